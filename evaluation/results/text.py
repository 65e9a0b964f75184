"""Results as text tables for the terminal."""

from collections.abc import Sequence
from pathlib import PurePath

from tabulate import tabulate

from evaluation.metrics.declared import label
from evaluation.results.result import ALL, SYSTEMS, Result

METRICS_ACROSS = 4
"""Where there are more, each has a row of its own: with its interval it is 21 characters wide."""


def figure(value: float | None, interval: Sequence[float] | None = None) -> str:
    """Return a metric's value, and its interval where it has one; a dash where it is undefined."""
    if value is None or value != value:
        return "-"
    return f"{value:.4f}" + (f" [{interval[0]:.3f}, {interval[1]:.3f}]" if interval else "")


def module_name(result: Result) -> str:
    """Return the name of the module's folder, with its parent's where it is a version number."""
    parts = PurePath(result.module["path"]).parts if result.module else ()
    return (
        "/".join(parts[-2:] if parts and parts[-1].isdigit() else parts[-1:]) or SYSTEMS["module"]
    )


def table(result: Result) -> str:
    """Return one result as a small text table: metrics of systems, and of groups."""
    keys = list(result.metrics)
    rows: list[tuple] = [(result.name, "n", *map(label, keys))]
    for baseline, group, n, metrics, ends in result.parts():
        system = SYSTEMS.get(baseline or result.system, baseline or result.system)
        system = system.replace(SYSTEMS["module"], module_name(result))
        name = system if group == ALL else f"{system}, {group}"
        rows.append((name, n, *(figure(metrics.get(key), ends.get(key)) for key in keys)))
    if len(keys) > METRICS_ACROSS:
        rows = list(zip(*rows, strict=True))
    aligned = ["left"] + ["right"] * (len(rows[0]) - 1)
    return tabulate(rows, headers="firstrow", disable_numparse=True, colalign=aligned)


def printed(result: Result) -> str:
    """Return a result for the terminal: its table, its counts, its notes."""
    counted = [f"{name.replace('_', ' ')} {count:,}" for name, count in result.counts.items()]
    lines = [table(result), ", ".join(counted), *result.notes]
    return "\n".join(line for line in lines if line)

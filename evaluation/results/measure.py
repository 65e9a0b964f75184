"""Metrics and intervals of a result, from its items."""

import dataclasses
from collections.abc import Iterable, Sequence

import numpy as np

from evaluation.errors import InputError
from evaluation.metrics import bootstrap, items
from evaluation.metrics.bootstrap import Sample
from evaluation.results.result import Result

GROUP_KEY = {"sts": "genre", "snli": "gold"}
"""The key of an item that names its group."""


def sample_of(
    result: Result,
    *,
    system: str | None = None,
    rows: Iterable[int] | None = None,
    metrics: Sequence[str] | None = None,
) -> Sample:
    """Return the units and metrics of the module, or of a baseline, over all items or some `rows`.

    By default the metrics are those that the result has.

    Raises:
      InputError: if the items lack what the task stores.
    """
    chosen = result.items if rows is None else [result.items[row] for row in rows]
    threshold = result.settings.get(threshold_name(system))
    try:
        return items.sample(
            result.task,
            chosen,
            metrics=tuple(result.metrics) if metrics is None else metrics,
            system=system,
            threshold=threshold,
        )
    except (KeyError, TypeError, IndexError) as error:
        raise InputError(
            f"{result.name}: its items lack what {result.task} is resampled from ({error}); "
            "compute it again with --again"
        ) from error


def threshold_name(system: str | None) -> str:
    """Return the setting that holds a system's threshold between relevant and not."""
    return "threshold" if system is None else f"{system}_threshold"


def measured(
    result: Result,
    metrics: Sequence[str],
    *,
    groups: Sequence[str] = (),
    group_metrics: Sequence[str] | None = None,
) -> Result:
    """Return the result with these metrics of its items: the module's, groups' and baselines'.

    Baselines of which the items have no score, such as chance, stay as they are.
    """
    found = {}
    for group in groups:
        rows = group_rows(result, group)
        sample = sample_of(result, rows=rows, metrics=group_metrics or metrics)
        found[group] = {"n": len(rows), "metrics": sample.once()}
    return dataclasses.replace(
        result,
        metrics=sample_of(result, metrics=metrics).once(),
        groups=found,
        baselines={
            name: sample_of(result, system=name, metrics=metrics).once() for name in systems(result)
        }
        | {name: of for name, of in result.baselines.items() if name not in systems(result)},
    )


def with_intervals(result: Result, *, seed: int) -> Result:
    """Return the result with 95% intervals of its metrics, its groups' and its baselines'."""
    groups = {}
    for name, group in result.groups.items():
        sample = sample_of(result, rows=group_rows(result, name), metrics=list(group["metrics"]))
        groups[name] = group | {"intervals": bootstrap.intervals(sample, seed=seed)}
    return dataclasses.replace(
        result,
        intervals=bootstrap.intervals(sample_of(result), seed=seed),
        baseline_intervals={
            name: bootstrap.intervals(sample_of(result, system=name), seed=seed)
            for name in result.baselines
            if name in systems(result)
        },
        groups=groups,
        settings=dict(result.settings) | {"seed": seed, "resamples": bootstrap.RESAMPLES},
    )


def group_rows(result: Result, group: str) -> np.ndarray:
    """Return which items belong to a group of the result: int [items of the group]."""
    key = GROUP_KEY[result.task]
    return np.flatnonzero([item[key] == group for item in result.items])


def systems(result: Result) -> list[str]:
    """Return the baselines whose scores the items of a result hold."""
    return list(result.items[0].get("baselines", {})) if result.items else []

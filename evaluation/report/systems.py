"""Everything that was scored, each with its results: the module, other modules, baselines."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from evaluation.report import scores
from evaluation.results import result
from evaluation.results.result import Intervals, Metrics, Result

OURS, OTHER, BASELINE = "ours", "other", "baseline"
BASELINES = "baselines"
"""The folder in a folder of results that the command `baselines` writes to."""
NOT_SHOWN = ("untuned",)  # a row of its own elsewhere


@dataclass(frozen=True)
class System:
    """Something that was scored, and its results by name."""

    label: str
    kind: str
    results: dict[str, Result]


@dataclass(frozen=True)
class Scored:
    """A system's figures on one data set, and the result that holds its items.

    `column` is the name of the system among the result's baselines, None if it is what the
    result is of.
    """

    label: str
    kind: str
    metrics: Metrics
    intervals: Intervals
    result: Result
    column: str | None = None


def read(folder: Path, others: Sequence[Path] = ()) -> list[System]:
    """Read the results of a module and of its baselines, and those of other modules.

    Raises:
      InputError: if a folder has no results, or a file is none.
    """
    systems = [System(scores.SYSTEMS["module"], OURS, _by_name(folder))]
    systems += [System(other.resolve().name, OTHER, _by_name(other)) for other in others]
    beside = folder / BASELINES
    for path in sorted(beside.iterdir()) if beside.is_dir() else []:
        if path.is_dir() and any(path.glob("*.json")):
            results = _by_name(path)
            modules = [found.module for found in results.values() if found.module]
            label = _short(modules[0]["path"]) if modules else path.name
            systems.append(System(label, BASELINE, results))
    return systems


def _by_name(folder: Path) -> dict[str, Result]:
    return {found.name: found for found in result.read_all(folder)}


def _short(path: str) -> str:
    """Return the end of a long path, by which one knows it."""
    return path if len(path) < 40 else "/".join(Path(path).parts[-2:])


def names(systems: Sequence[System], task: str) -> list[str]:
    """Return the names of all results of a task, the module's own first."""
    found = [r.name for system in systems for r in system.results.values() if r.task == task]
    return list(dict.fromkeys(found))


def scored(systems: Sequence[System], name: str) -> Iterator[Scored]:
    """Yield every system's figures on one data set, in order; a tuned one behind its untuned."""
    first: Result | None = None
    for system in systems:
        for one, suffix in ((name, ""), (f"{name}-tuned", ", tuned")):
            found = system.results.get(one)
            own = found is not None and found.system.startswith("module")
            # What no module was scored on is the same in every folder.
            if found is not None and (own or first is None):
                first = first or found
                label = (
                    system.label + suffix if own else scores.SYSTEMS.get(found.system, found.system)
                )
                kind = system.kind if own else BASELINE
                yield Scored(label, kind, found.metrics, found.intervals, found)
    if first is None:
        return
    for column, metrics in first.baselines.items():
        if column not in NOT_SHOWN:
            intervals = first.baseline_intervals.get(column, {})
            label = scores.SYSTEMS.get(column, column)
            yield Scored(label, BASELINE, metrics, intervals, first, column)

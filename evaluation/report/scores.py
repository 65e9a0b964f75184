"""Folders of results in, runs of the same items and one long table of their scores out.

All results of a data set are of the same items: one of other data or settings than the first of its
name, or one learned or chosen on other data, is left out, and a sentence says so.
"""

import re
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from common.errors import InputError
from evaluation.results import store
from evaluation.results.result import (
    ALL,
    BASELINES,
    DECLARED,
    LEARNED_FROM,
    SYSTEMS,
    VARIANTS,
    Result,
    data_name,
    facts,
    module_name,
)

OURS, OTHER, BASELINE, PAPER = "ours", "other", "baseline", "paper"
"""Kinds of rows; those of the paper have no runs."""
SHARES = ("growth", "nli")
"""Kinds of rows trained on a share of the pairs or the NLI pairs, in percent, such as `nli_30`."""
UNTUNED = "untuned"  # a baseline in results that is a row of its own


class Run(NamedTuple):
    """A system, trained once: its results by name. `kind` may be that of a share, too."""

    system: str
    kind: str
    results: dict[str, Result]
    seed: int | None = None


class Score(NamedTuple):
    """A number, what it is of, and its place in a table; in the long table, a mean over runs.

    The deviation is over runs. The interval is the mean of the runs' intervals, where each has one:
    at least as wide as that of the mean, because no more than the same items vary in all runs.
    """

    row: str
    kind: str
    value: float  # a whole number where something is counted
    interval: Sequence[float] | None = None
    deviation: float | None = None
    system: str = ""
    name: str = ""  # of the results
    group: str = ALL
    metric: str = ""
    results: Sequence[Result] = ()
    column: str = ""  # the system's name among the baselines of the results; empty for their own
    header: str = ""
    block: str = ""  # rows of one block are shown under its name
    of: str = ""  # the system, where the row does not name it

    @property
    def data(self) -> str:
        """The name of the data set, which tuned results and those in context share."""
        return data_name(self.name)

    @property
    def standing(self) -> str:
        """Where a difference puts its row: above, below, or level if the interval holds 0."""
        low, high = self.interval or (0.0, 0.0)
        return "above" if low > 0 else "below" if high < 0 else "level"

    def was(self, fact: str) -> bool:
        """Whether it is of a module that is `pretrained`, or starts from one, or `static`.

        A static one has one vector for each token, whatever stands beside it.
        """
        modules = [result.module or {} for result in self.results]
        return not self.column and any(module.get(fact) for module in modules)


def read_module(folder: Path, others: Sequence[Path] = ()) -> tuple[list[Run], list[str]]:
    """Read results of a module, of others, and of baselines: runs, and what is left out.

    The others are named after their folders, by the whole path where two have the same name.
    """
    runs = [Run(SYSTEMS["module"], OURS, _by_name(folder))]
    names = [other.name for other in others]
    for other in dict.fromkeys(others):
        system = str(other) if names.count(other.name) > 1 else other.name
        runs.append(Run(system, OTHER, _by_name(other)))
    return _on_the_same_items([*runs, *_baselines(folder)])


def read_runs(folder: Path, names: Sequence[str] = ()) -> tuple[list[Run], list[str]]:
    """Read folders NAME-SEED, of `names` or all, and baselines: runs, and what is left out."""
    there = sorted(path.name for path in folder.glob("*") if any(path.glob("*.json")))
    found = []
    for name in names or there:
        if match := re.fullmatch(r"(.+)-(\d+)", name):
            row, seed = match.groups()
            kind, _, share = row.partition("_")
            kind = kind if kind in SHARES and share.isdigit() else OURS
            found.append(Run(shown(row), kind, _by_name(folder / name), int(seed)))
        elif names:
            raise InputError(f"--runs: {name}; accepted: NAME-SEED, such as {', '.join(there)}")
    if not found:
        raise InputError(f"{folder}: no results here (folders NAME-SEED of *.json are needed)")
    return _on_the_same_items([*found, *_baselines(folder)])


def shown(name: str) -> str:
    """Return how a row's name is shown."""
    return name.replace("_", " ")


def _by_name(folder: Path) -> dict[str, Result]:
    return {result.name: result for result in store.read_results(folder)}


def _baselines(folder: Path) -> list[Run]:
    found = []
    for path in sorted((folder / BASELINES).glob("*")):
        if any(path.glob("*.json")):
            results = _by_name(path)
            names = (module_name(one) for one in results.values() if one.module)
            found.append(Run(next(names, shown(path.name)), BASELINE, results))
    return found


def _on_the_same_items(runs: list[Run]) -> tuple[list[Run], list[str]]:
    """Take from the runs the results of other items than the first of the same name."""
    first: dict[tuple[str, str], tuple[object, str]] = {}
    left_out = []
    for run in runs:
        for name, result in [*run.results.items()]:
            own = {
                (result.name if fact == LEARNED_FROM else data_name(result.name), fact): value
                for fact, value in {**facts(result), "n": result.n}.items()
                if value is not None
            }
            wrong = [key for key in own if key in first and first[key][0] != own[key]]
            if wrong:
                known, system = first[wrong[0]]
                why = f"{wrong[0][1]} {own[wrong[0]]}, but {known} in {system}"
                left_out.append(f"{run.system}, {name} is left out: {why}.")
                del run.results[name]
            else:
                first = {key: (value, run.system) for key, value in own.items()} | first
    return runs, left_out


def long_table(runs: Sequence[Run]) -> list[Score]:
    """Return all scores: by data set as in the first run; baselines inside of results last."""
    found: dict[tuple, list[tuple]] = {}
    for run in runs:
        for result in run.results.values():
            system, kind, name = _row(run, result)
            for column, group, _, metrics, intervals in result.parts():
                of = (SYSTEMS.get(column, column), BASELINE) if column else (system, kind)
                for metric, value in metrics.items():
                    if value is not None and column != UNTUNED:
                        lines = found.setdefault((*of, name, group, metric, column), [])
                        lines.append((value, intervals.get(metric), result))
    scores = []
    for (system, kind, name, group, metric, column), lines in found.items():
        values, ends, results = zip(*lines[: 1 if kind == BASELINE else None], strict=True)
        row = system + VARIANTS.get(name.removeprefix(data_name(name)), "")
        means = mean(values, ends)
        scores.append(Score(row, kind, *means, system, name, group, metric, results, column))
    order = list(dict.fromkeys(score.data for score in scores))
    return sorted(scores, key=lambda score: (order.index(score.data), score.column != ""))


def _row(run: Run, result: Result) -> tuple[str, str, str]:
    if result.task == "sts_regression":  # a folder holds the results of many
        name = result.name.removesuffix(f"-{result.settings['row']}")
        return str(result.settings["label"]), OURS if result.system == "module" else BASELINE, name
    if result.system.startswith("module") or result.task not in DECLARED:
        return run.system, run.kind, result.name
    # What no module was scored on is the same in every folder.
    return SYSTEMS.get(result.system, result.system), BASELINE, result.name


def mean(
    values: Sequence[float], intervals: Sequence[Sequence[float] | None] = ()
) -> tuple[float, list[float] | None, float | None]:
    """Return the mean of runs, of their intervals if each has one, and the standard deviation."""
    ends = [*zip(*intervals, strict=True)] if all(intervals) else []
    deviation = statistics.stdev(values) if len(values) > 1 else None
    return statistics.fmean(values), [*map(statistics.fmean, ends)] or None, deviation

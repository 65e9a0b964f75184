"""Folders of results in, one long table of scores out: a line a metric, system and data set.

A system that was trained with several seeds has several runs, and the mean of them is its score.
All scores of a data set are of the same items: a result of other data or settings than the first
of its name, or one learned or chosen on other data, is left out, and a sentence says so.
"""

import re
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from common.errors import InputError
from evaluation.results import store
from evaluation.results.result import DECLARED, SYSTEMS, VARIANTS, Result, data_name
from evaluation.results.text import module_name

BASELINES = "baselines"
"""The folder in a folder of results that the command `baselines` writes to."""
OURS, OTHER, BASELINE, PAPER = "ours", "other", "baseline", "paper"
SHARES = ("growth", "nli")
"""Kinds of rows trained on a share of the pairs or the NLI pairs, in percent, such as `nli_30`."""
ALL = "all"
"""The group that all items of a result are in."""
UNTUNED = "untuned"
"""A baseline in results that is a row of its own."""


class Run(NamedTuple):
    """A system, trained once: its results by name. `kind` may be that of a share, too."""

    system: str
    kind: str
    results: dict[str, Result]
    seed: int | None = None


@dataclass(frozen=True)
class Score:
    """A metric of a system on all items of a data set, or on a group of them: a mean over runs.

    The deviation is over runs. The interval is the mean of the runs' intervals, where each has one:
    at least as wide as that of the mean, because no more than the same items vary in all runs.
    """

    system: str
    kind: str
    value: float
    interval: Sequence[float] | None = None
    deviation: float | None = None
    name: str = ""
    """Of the results."""
    group: str = ALL
    metric: str = ""
    results: Sequence[Result] = ()
    column: str | None = None
    """The system's name among the baselines of the results; None if they are its own."""

    @property
    def data(self) -> str:
        """The name of the data set, which tuned results and those in context share."""
        return data_name(self.name)

    @property
    def row(self) -> str:
        """The system, with what it is a variant of."""
        return self.system + VARIANTS.get(self.name.removeprefix(self.data), "")

    @property
    def pretrained(self) -> bool:
        """Whether it is, or starts from, a model that was trained elsewhere."""
        modules = [result.module or {} for result in self.results if not self.column]
        return any(module.get("pretrained") for module in modules)


def long_table(runs: Sequence[Run]) -> list[Score]:
    """Return all scores: by data set in the order of the first run, then by system.

    Last come the baselines that every result of these data holds, such as word overlap.
    """
    rows: dict[tuple[str, str, str], list[Result]] = {}
    columns: dict[str, Result] = {}
    for run in runs:
        for result in run.results.values():
            rows.setdefault(_row(run, result), []).append(result)
            if result.baselines:
                columns.setdefault(result.name, result)
    found: dict[str, list[Score]] = {}
    for (system, kind, name), results in rows.items():
        own = results[:1] if kind == BASELINE else results
        found.setdefault(data_name(name), []).extend(_scores(system, kind, name, own))
    for name, result in columns.items():
        for column in (one for one in result.baselines if one != UNTUNED):
            system = SYSTEMS.get(column, column)
            found[data_name(name)] += _scores(system, BASELINE, name, [result], column)
    return [score for of_data in found.values() for score in of_data]


def _row(run: Run, result: Result) -> tuple[str, str, str]:
    """Return system, kind and name of the results that are averaged with this one."""
    if result.task == "sts_regression":  # a folder holds the results of many
        name = result.name.removesuffix(f"-{result.settings['row']}")
        kind = OURS if result.system == "module" else BASELINE
        return str(result.settings["label"]), kind, name
    if result.system.startswith("module") or result.task not in DECLARED:
        return run.system, run.kind, result.name
    # What no module was scored on is the same in every folder.
    return SYSTEMS.get(result.system, result.system), BASELINE, result.name


def _scores(
    system: str, kind: str, name: str, results: list[Result], column: str | None = None
) -> Iterator[Score]:
    """Yield every metric of a row's results, or of a baseline among them."""
    for group in [ALL] if column else [ALL, *results[0].groups]:
        found: dict[str, list[tuple]] = {}
        for result in results:
            of: Mapping = result.groups.get(group, {})
            metrics, intervals = of.get("metrics", {}), of.get("intervals", {})
            if group == ALL:
                metrics, intervals = result.metrics, result.intervals
            if column:
                metrics = result.baselines[column]
                intervals = result.baseline_intervals.get(column, {})
            for metric, value in metrics.items():
                if value is not None:
                    found.setdefault(metric, []).append((value, intervals.get(metric)))
        for metric, figures in found.items():
            means = mean(*zip(*figures, strict=True))
            yield Score(system, kind, *means, name, group, metric, results, column)


def mean(
    values: Sequence[float], intervals: Sequence[Sequence[float] | None] = ()
) -> tuple[float, list[float] | None, float | None]:
    """Return the mean of runs, of their intervals if each has one, and the standard deviation."""
    ends = [*zip(*intervals, strict=True)] if all(intervals) else []
    deviation = statistics.stdev(values) if len(values) > 1 else None
    return statistics.fmean(values), [*map(statistics.fmean, ends)] or None, deviation


def read_module(folder: Path, others: Sequence[Path] = ()) -> tuple[list[Run], list[str]]:
    """Read the results of a module, those of other modules, and those of the baselines.

    The module has its folder's name, another the name of its folder of results, or the whole path
    where that name is taken. Returns the runs, and sentences on what is left out.

    Raises:
      InputError: if a folder has no results, or a file is none.
    """
    own = _by_name(folder)
    of_module = next((result for result in own.values() if result.module), None)
    runs = [Run(module_name(of_module) if of_module else SYSTEMS["module"], OURS, own)]
    names = [runs[0].system, *(other.name for other in others)]
    for other in dict.fromkeys(others):
        system = str(other) if names.count(other.name) > 1 else other.name
        runs.append(Run(system, OTHER, _by_name(other)))
    return _on_the_same_items([*runs, *_baselines(folder)])


def read_runs(folder: Path, names: Sequence[str] = ()) -> tuple[list[Run], list[str]]:
    """Read folders NAME-SEED, those of `names` or all, then the baselines in `baselines/`.

    Returns the runs, and sentences on what is left out.

    Raises:
      InputError: if a folder has no results, or a file in it is none.
    """
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
    paths = sorted(path for path in (folder / BASELINES).glob("*") if any(path.glob("*.json")))
    return [Run(shown(path.name), BASELINE, _by_name(path)) for path in paths]


def _on_the_same_items(runs: list[Run]) -> tuple[list[Run], list[str]]:
    """Take from the runs the results of other items than the first of the same name."""
    first: dict[tuple[str, str], tuple[object, str]] = {}
    left_out = []
    for run in runs:
        for name, result in [*run.results.items()]:
            facts = {key: (value, run.system) for key, value in _facts(result).items()}
            both = ((key, *facts[key], *first.get(key, facts[key])) for key in facts)
            difference = next((one for one in both if one[1] != one[3]), None)
            if difference is None:
                first = facts | first
                continue
            (_, what), value, _, known, system = difference
            why = f"{what} {value}, but {known} in {system}"
            left_out.append(f"{run.system}, {name} is left out: {why}.")
            del run.results[name]
    return runs, left_out


def _facts(result: Result) -> dict[tuple[str, str], object]:
    """Return what is the same in all results of a name, by the name and by what it is."""
    data, facts = data_name(result.name), {}
    if task := DECLARED.get(result.task):
        facts = {(data, key): result.settings.get(key) for key in task.settings}
        facts[data, "n"] = result.n
        facts[data, "SHA-256 of the data"] = result.data.get("sha256", "")[:12]
    learned_from = result.data.get("learned_from", {}).get("sha256", "")[:12]
    facts[result.name, "learned or chosen on data of SHA-256"] = learned_from
    return {key: value for key, value in facts.items() if value not in (None, "")}

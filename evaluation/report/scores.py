"""Runs in, one long table of scores out: a line a metric, system and data set."""

import statistics
from collections.abc import Sequence
from typing import NamedTuple

from evaluation.results.result import ALL, DECLARED, SYSTEMS, VARIANTS, Result, data_name
from evaluation.results.runs import BASELINE, OURS, Run

PAPER = "paper"  # a kind of rows, beside those of runs
UNTUNED = "untuned"  # a baseline in results that is a row of its own


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
    def pretrained(self) -> bool:
        """Whether it is, or starts from, a model that was trained elsewhere."""
        return self._is("pretrained")

    @property
    def static(self) -> bool:
        """Whether it has one vector for each token, whatever stands beside it."""
        return self._is("static")

    def _is(self, fact: str) -> bool:
        modules = [result.module or {} for result in self.results]
        return not self.column and any(module.get(fact) for module in modules)


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

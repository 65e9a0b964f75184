"""The main figures: our rows beside the best simple baseline and the paper, on the same items.

Rows are compared with a baseline by the paired bootstrap of `analysis.paired_test`. A baseline is
simple if it needs no pretrained model.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from common.errors import InputError
from evaluation.analysis import paired_test
from evaluation.report.paper import PAPER, SIZES, Main, published
from evaluation.report.systems import Scored, System, names, scored
from evaluation.report.table import BASELINE, OURS, Cell, Row, Table, mean
from evaluation.report.tables import candidates, is_papers
from evaluation.results.result import RETRIEVAL, Result, data_name, main_metric
from evaluation.results.text import label

CHOSEN_ON = Main(label="STS-B dev, r", data="sts-dev", metric="pearson")
NOT_SIMPLE = ("ceiling",)
"""Columns of results that are no baseline."""
AHEAD, LEVEL, BEHIND = STANDINGS = ("ahead on", "level on", "behind on")
TASKS = {
    "sts": "similarity",
    "response_ranking": "response ranking",
    "cqa": "question answering",
    "snli": "NLI",
    RETRIEVAL: "retrieval",
}
"""What each task is called here, in the page's order."""


@dataclass(frozen=True)
class Compared:
    """A main figure of a row, beside the best simple baseline on the same items, if there is one.

    `difference` is how far the row is above the baseline.
    """

    main: Main
    row: Scored
    baseline: Scored | None
    difference: Cell

    @property
    def score(self) -> Cell:
        """The row's figure."""
        return self.row.cell(self.main.metric)

    @property
    def baseline_score(self) -> Cell:
        """The baseline's figure."""
        return self.baseline.cell(self.main.metric) if self.baseline else Cell()

    @property
    def standing(self) -> str:
        """On which side of the baseline the row is; level where the interval includes 0.

        Empty where the difference has no interval.
        """
        if self.difference.value is None or not self.difference.interval:
            return ""
        low, high = self.difference.interval
        return LEVEL if low <= 0 <= high else AHEAD if low > 0 else BEHIND

    def line(self, task: str) -> str:
        """Return the figure as a line of text."""
        said = f"{task}, {self.main.data}: {self.main.label} {self.score.text}"
        if self.baseline:
            said += f"; best simple baseline: {self.baseline.label} {self.baseline_score.text}"
        return f"{said}; {self.standing.removesuffix(' on')}" if self.standing else said


def compared(systems: Sequence[System], system: System, main: Main) -> Compared | None:
    """Return a system's main figure beside the best simple baseline; None if it has none."""
    row = row_of(system, main)
    if row is None:
        return None
    baseline = best_baseline(systems, main)
    return Compared(
        main, row, baseline, difference(row, baseline, main.metric) if baseline else Cell()
    )


def row_of(system: System, main: Main) -> Scored | None:
    """Return a system's runs on a figure's data; None where it was not scored."""
    found = [one for one in system.named(main.data) if one.system.startswith("module")]
    one = Scored(system.label, system.kind, found)
    return one if found and one.cell(main.metric).value is not None else None


def best_baseline(
    systems: Sequence[System], main: Main, *, pretrained: bool = False
) -> Scored | None:
    """Return the baseline with the highest figure, of the simple or of the pretrained ones."""
    name = main.of_baselines or main.data
    found = [
        (value, one)
        for one in scored(systems, name)
        if one.kind == BASELINE
        and one.pretrained == pretrained
        and one.column not in NOT_SIMPLE
        and one.results[0].name == name  # of its tuned one there is a figure of its own
        and (value := one.cell(main.metric).value) is not None
    ]
    return max(found, key=lambda pair: pair[0], default=(0.0, None))[1]


def difference(one: Scored, baseline: Scored, metric: str) -> Cell:
    """Return by how much a row is above a baseline on the same items, as the mean of its runs.

    Without a number where the items were not the same, or are not stored.
    """
    of: dict[str, Any] = {"system_a": baseline.column, "metrics": [metric]}
    try:
        found = [paired_test.compare(baseline.results[0], run, **of)[0] for run in one.results]
    except InputError:
        return Cell()
    return mean([of.difference for of in found], intervals=[of.interval for of in found])


def main_figures(systems: Sequence[System]) -> list[Main]:
    """Return the main figures that a trained row has; of other data, without the paper's."""
    cqa = [Main(f"{data_label(name)}, MAP", name, "map") for name in names(systems, "cqa")]
    ours = [system for system in systems if system.kind == OURS]
    found = []
    for one in (*PAPER.main, *cqa):
        row = next(filter(None, (row_of(system, one) for system in ours)), None)
        if row:
            found.append(_on(one, row.results[0]))
    return found


def _on(main: Main, result: Result) -> Main:
    """Return a figure of a result: on other data than the paper's, by their name alone."""
    name = main.label.format(candidates=candidates(result))
    if is_papers(result):
        return msgspec.structs.replace(main, label=name)
    if result.task in ("sts", "snli"):
        name = f"{data_name(result.name)}, {name.split(', ', 1)[1]}"
    return msgspec.structs.replace(main, label=name, reddit=None, nli=None)


def data_label(name: str) -> str:
    """Return `CQA 2016 dev` for the name of the organisers' file."""
    words = name.removeprefix("cqa-").replace("SemEval", "").split("-")
    return " ".join(["CQA", *(word for word in words if word not in ("Task3", "CQA", "QL"))])


def papers(main: Main) -> tuple[Cell, Cell]:
    """Return the paper's figures, of its Reddit and its Reddit+SNLI model."""
    kind = {"pearson": "correlation", "accuracy": "proportion"}.get(main.metric, "")
    n = SIZES.get(data_name(main.data), 0)
    return published(main.reddit, kind, n), published(main.nli, kind, n)


def best_rows(systems: Sequence[System], outside: Mapping[str, str]) -> dict[str, System]:
    """Return the row with the highest r on STS-B dev of those from scratch, and of each other kind.

    `outside` says by a row's label what it has from outside the training data, such as `a teacher`;
    rows that have nothing are of the kind "", which comes first.
    """
    best: dict[str, tuple[float, System]] = {}
    for system in (one for one in systems if one.kind == OURS):
        row, kind = row_of(system, CHOSEN_ON), outside.get(system.label, "")
        value = row.cell(CHOSEN_ON.metric).value if row else None
        if value is not None and (kind not in best or value > best[kind][0]):
            best[kind] = value, system
    return {kind: best[kind][1] for kind in sorted(best)}


def differences(systems: Sequence[System]) -> Table | None:
    """Return every trained row's differences from the best simple baseline of each figure."""
    shown = {one: best for one in main_figures(systems) if (best := best_baseline(systems, one))}
    rows = []
    for system in (one for one in systems if one.kind == OURS):
        of = {main: compared(systems, system, main) for main in shown}
        cells = [one.difference if one else Cell() for one in of.values()]
        if any(cell.value is not None for cell in cells):
            rows.append(Row(system.label, cells, OURS))
    title = "Difference from the best simple baseline on the same items"
    headers = [f"{main.label}: {baseline.label}" for main, baseline in shown.items()]
    return Table("differences", title, headers, rows) if rows else None


def of_each_task(systems: Sequence[System]) -> dict[str, Compared]:
    """Return the first system's main figure of each task, on its test set if it has one."""
    found = {}
    for task, name in TASKS.items():
        possible = [
            Main(label(key), result.name, key)
            for result in systems[0].results()
            if result.task == task and result.name == data_name(result.name)
            if (key := main_metric(result.metrics)) and result.metrics[key] is not None
        ]
        scored_on = [one for one in possible if row_of(systems[0], one)]
        if scored_on:
            best = min(scored_on, key=lambda one: _preference(one.data))
            found[name] = compared(systems, systems[0], best)
    return {name: one for name, one in found.items() if one}


def _preference(name: str) -> int:
    words = re.split(r"[^a-z]+", name.lower())
    return next((at for at, split in enumerate(("test", "dev")) if split in words), 2)

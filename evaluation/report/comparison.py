"""The main figures: our rows beside the best simple baseline and the paper, on the same items.

Rows are compared with a baseline by the paired bootstrap of `analysis.paired_test`. A baseline is
simple if it needs no pretrained model.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import msgspec

from common.errors import InputError
from evaluation.analysis import paired_test
from evaluation.report.paper import PAPER, Main, cell
from evaluation.report.systems import Scored, System, names, scored
from evaluation.report.table import BASELINE, OURS, Cell, Row, Table, mean
from evaluation.report.tables import candidates, is_papers, is_synthetic
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
    """A main figure of a row, beside the best simple baseline on the same items.

    `difference` is how far the row is above the baseline, and `standing` on which side; empty
    where the difference has no interval. `baseline` is None where no simple one was scored.
    """

    label: str
    row: Scored
    score: Cell
    baseline: Scored | None
    baseline_score: Cell
    difference: Cell

    @property
    def standing(self) -> str:
        """On which side of the baseline the row is; level where the interval includes 0."""
        if self.difference.value is None or not self.difference.interval:
            return ""
        low, high = self.difference.interval
        return LEVEL if low <= 0 <= high else AHEAD if low > 0 else BEHIND


def compared(systems: Sequence[System], system: System, main: Main) -> Compared | None:
    """Return a system's main figure beside the best simple baseline; None if it has none."""
    row = row_of(system, main)
    if row is None:
        return None
    baseline = best_baseline(systems, main)
    return Compared(
        main.label,
        row,
        row.cell(main.metric),
        baseline,
        baseline.cell(main.metric) if baseline else Cell(),
        difference(row, baseline, main.metric) if baseline else Cell(),
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
    try:
        found = [
            next(
                iter(
                    paired_test.compare(
                        baseline.results[0], run, system_a=baseline.column, metrics=[metric]
                    )
                )
            )
            for run in one.results
        ]
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
    table = {"sts": "table_3", "snli": "table_2"}.get(main.data.split("-")[0])
    spec = PAPER.tables[table] if table else None
    of = (main.reddit, main.nli)
    if spec is None:
        return Cell(of[0]), Cell(of[1])
    first, second = (cell(value, spec, data_name(main.data)) for value in of)
    return replace(first, percent=False, decimals=3), replace(second, percent=False, decimals=3)


def best_rows(systems: Sequence[System], outside: Mapping[str, str]) -> dict[str, System]:
    """Return the row with the highest r on STS-B dev of those from scratch, and of each other kind.

    `outside` says by a row's label what it has from outside the training data, such as `a teacher`;
    rows that have nothing are of the kind "", which comes first.
    """
    best: dict[str, tuple[float, System]] = {}
    for system in systems:
        if system.kind == OURS and (row := row_of(system, CHOSEN_ON)):
            value, kind = row.cell(CHOSEN_ON.metric).value, outside.get(system.label, "")
            if kind not in best or value > best[kind][0]:
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


class Tile(NamedTuple):
    """The main figure of a task on one data set; `items` says how many, and of what kind."""

    task: str
    data: str
    metric: str
    items: str
    is_synthetic: bool
    found: Compared

    def line(self) -> str:
        """Return the tile as a line of text."""
        found = self.found
        said = (
            f"{', '.join(filter(None, (self.task, self.data)))}: {self.metric} {found.score.text}"
        )
        if found.baseline:
            of = f"{found.baseline.label} {found.baseline_score.text}"
            said += f"; best simple baseline: {of}"
        return f"{said}; {found.standing.removesuffix(' on')}" if found.standing else said


def tiles(systems: Sequence[System]) -> list[Tile]:
    """Return a tile for each task that the first system was scored on, on its test set if any."""
    return [tile for task in TASKS if (tile := _tile(systems, task))]


def _tile(systems: Sequence[System], task: str) -> Tile | None:
    possible = [
        (result, found)
        for result in systems[0].results()
        if result.task == task and result.name == data_name(result.name)
        if (found := compared(systems, systems[0], _of(result)))
    ]
    if not possible:
        return None
    result, found = min(possible, key=lambda one: _preference(one[0].name))
    metric = _of(result).metric
    name = result.name.removeprefix(task).removeprefix("-")
    if task == "cqa":
        name = data_label(result.name).removeprefix("CQA ")
    if task == "sts" and is_papers(result):
        name = f"STS-B {name}"
    kind = "queries" if task in ("cqa", RETRIEVAL) else "pairs"
    shown = "Pearson's r" if metric == "pearson" else label(metric)
    return Tile(TASKS[task], name, shown, f"{result.n:,} {kind}", is_synthetic(result), found)


def _of(result: Result) -> Main:
    return Main(result.name, result.name, main_metric(result.metrics) or "")


def _preference(name: str) -> int:
    words = re.split(r"[^a-z]+", name.lower())
    return next((at for at, split in enumerate(("test", "dev")) if split in words), 2)

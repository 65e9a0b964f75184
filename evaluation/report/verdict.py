"""What the report opens with: the main score of each task beside the best simple baseline."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from evaluation.data.origin import SYNTHETIC
from evaluation.report import opening
from evaluation.report.cells import Cell
from evaluation.report.opening import Figure
from evaluation.report.paper_tables import is_papers, is_synthetic
from evaluation.report.systems import System
from evaluation.results.result import RETRIEVAL, Result, data_name, main_metric
from evaluation.results.text import label

TASKS = {
    "sts": "similarity",
    "response_ranking": "response ranking",
    "cqa": "question answering",
    "snli": "NLI",
    RETRIEVAL: "retrieval",
}
"""What each task is called here, in the page's order."""
STANDINGS = ("ahead on", "level on", "behind on")
"""What `opening.standing` returns, the best first."""


@dataclass(frozen=True)
class Tile:
    """The score of a task on one data set.

    `items` says how many there are, and of what kind. `baseline` is the name of the best simple
    baseline on the same items, empty where there is none. `difference` is how far the module is
    above it, and `standing` on which side.
    """

    task: str
    data: str
    metric: str
    items: str
    score: Cell
    baseline: str
    baseline_score: Cell
    difference: Cell
    standing: str


def tiles(systems: Sequence[System]) -> list[Tile]:
    """Return a tile for each task that the first system was scored on."""
    return [tile for task in TASKS if (tile := _tile(systems, task))]


def _tile(systems: Sequence[System], task: str) -> Tile | None:
    """Return the tile of a task, on its test set if there is one, else on dev, else on another."""
    figures = [
        Figure(one.name, one.name, main_metric(one.metrics) or "")
        for one in systems[0].results()
        if one.task == task
    ]
    scored = [
        (one, row)
        for one in figures
        if one.name == data_name(one.name) and (row := opening.row_of(systems[0], one))
    ]
    if not scored:
        return None
    figure, row = min(scored, key=lambda pair: _preference(pair[0].name))
    baseline = opening.best_baseline(systems, figure)
    difference = opening.difference(row, baseline, figure) if baseline else Cell()
    return Tile(
        task=TASKS[task],
        data=_data(row.results[0]),
        metric="Pearson's r" if figure.key == "pearson" else label(figure.key),
        items=_items(row.results[0]),
        score=figure.of(row),
        baseline=baseline.label if baseline else "",
        baseline_score=figure.of(baseline) if baseline else Cell(),
        difference=difference,
        standing=opening.standing(difference) if difference.interval else "",
    )


def _data(result: Result) -> str:
    """Return the short name of the data; empty where the task has one data set."""
    if result.task == "cqa":
        return opening.data_label(result.name).removeprefix("CQA ")
    name = result.name.removeprefix(result.task).removeprefix("-")
    return f"STS-B {name}" if result.task == "sts" and is_papers(result) else name


def _items(result: Result) -> str:
    kind = "queries" if result.task in ("cqa", RETRIEVAL) else "pairs"
    whole = f"{result.n:,} {kind}"
    return f"{whole}, {SYNTHETIC}" if is_synthetic(result) else whole


def _preference(name: str) -> int:
    words = re.split(r"[^a-z]+", name.lower())
    return next((at for at, split in enumerate(("test", "dev")) if split in words), 2)


def sentence(name: str, found: Sequence[Tile]) -> str:
    """Return where the module is ahead of, level with and behind the best simple baseline.

    Empty where no tile has an interval of the difference.
    """
    parts = []
    for standing in STANDINGS:
        if tasks := [tile.task for tile in found if tile.standing == standing]:
            parts.append(f"{standing} {', '.join(tasks)}")
    return f"{name} beside the best simple baseline: {'; '.join(parts)}." if parts else ""


def line(tile: Tile) -> str:
    """Return a tile as a line of text; without the baseline where there is none."""
    name = f"{tile.task}, {tile.data}" if tile.data else tile.task
    score = f"{name}: {tile.metric} {tile.score.text}"
    if not tile.baseline:
        return score
    beside = f"{score}; best simple baseline: {tile.baseline} {tile.baseline_score.text}"
    return f"{beside}; {tile.standing.removesuffix(' on')}" if tile.standing else beside

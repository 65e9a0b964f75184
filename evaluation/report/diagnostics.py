"""Tables of `contamination` and `mistakes`: what was seen in training, where a module is wrong."""

from collections.abc import Iterable

from evaluation.report.cells import OURS, Cell, Row, Table
from evaluation.report.systems import Scored
from evaluation.results.result import Result, main_metric
from evaluation.results.text import label

WITHOUT = ("without pairs in training", "without texts in training")
"""Groups of a result of `contamination`."""


def contamination(results: Iterable[Result]) -> Table | None:
    """Return how many items of each evaluation set are in the training data, and the scores.

    `results` are those of the command `contamination`; without any there is no table.
    """
    rows = []
    for one in results:
        key = main_metric(one.metrics)
        found = Scored("", "", [one])
        counts = [one.n, one.counts["pairs_in_training"], one.counts["texts_in_training"]]
        cells = [Cell(count, decimals=0) for count in counts]
        cells += [found.cell(key, group=g) if key else Cell() for g in (None, *WITHOUT)]
        name = one.name.removeprefix("contamination-")
        rows.append(Row(f"{name}, {label(key)}" if key else name, cells, OURS))
    if not rows:
        return None
    headers = ["items", "pairs in training", "texts in training", "score of all", *WITHOUT]
    return Table("Evaluation items in the training data", headers, rows)


def mistakes(result: Result) -> Table:
    """Return the errors of a result of `mistakes` by kind of text."""
    found, keys = Scored("", "", [result]), list(result.metrics)
    rows = [
        Row(
            group or "all",
            [
                Cell(result.groups[group]["n"] if group else result.n, decimals=0),
                *(found.cell(key, group=group) for key in keys),
            ],
            OURS,
        )
        for group in (None, *result.groups)
    ]
    return Table(result.name.removeprefix("mistakes-"), ["n", *map(label, keys)], rows)

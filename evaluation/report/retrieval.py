"""The table of retrieval on the user's own data."""

from collections.abc import Sequence

from evaluation.report.cells import Row, Table
from evaluation.report.systems import System, names, scored
from evaluation.results.result import RETRIEVAL
from evaluation.results.text import label

METRICS = ("ndcg_at_10", "mrr_at_10", "recall_at_10", "recall_at_100")


def table(systems: Sequence[System]) -> Table | None:
    """Return nDCG, MRR and recall of every system, grouped by data set; None without results."""
    found = names(systems, RETRIEVAL)
    if not found:
        return None
    rows = [
        Row(
            one.label, [one.cell(key) for key in METRICS], one.kind, name.removeprefix("retrieval-")
        )
        for name in found
        for one in scored(systems, name)
    ]
    sizes = [next(iter(scored(systems, name))).results[0] for name in found]
    notes = [
        f"{result.name.removeprefix('retrieval-')}: {result.n:,} queries, "
        f"{result.counts['documents']:,} documents."
        for result in sizes
    ]
    return Table("Retrieval", [label(key) for key in METRICS], rows, notes)

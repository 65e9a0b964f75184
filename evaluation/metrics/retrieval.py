"""Metrics of retrieval, as `trec_eval` computes them: nDCG, reciprocal rank and recall at a cut."""

from collections.abc import Mapping, Sequence

import ir_measures
from ir_measures import RR, R, nDCG

MEASURES = {
    "ndcg_at_10": nDCG @ 10,
    "mrr_at_10": RR @ 10,
    "recall_at_10": R @ 10,
    "recall_at_100": R @ 100,
}
"""MRR is the mean of reciprocal ranks; nDCG's gain is the grade, discounted by log2(1 + rank)."""
DEEPEST = 100
"""No measure looks at a later rank."""


def of_rankings(
    rankings: Mapping[str, Sequence[str]], relevant: Mapping[str, Mapping[str, int]]
) -> dict[str, dict[str, float]]:
    """Return every measure of each query, in [0, 1].

    Args:
      rankings: documents of each query, best first.
      relevant: grades of documents, of each query; those above 0 are relevant.
    """
    names = {measure: name for name, measure in MEASURES.items()}
    # Scores that fall strictly: the libraries order ties each in their own way.
    run = {
        query: {document: float(-rank) for rank, document in enumerate(documents)}
        for query, documents in rankings.items()
    }
    qrels = {query: dict(relevant[query]) for query in rankings}
    found: dict[str, dict[str, float]] = {query: {} for query in rankings}
    for metric in ir_measures.iter_calc(list(names), qrels, run):
        found[metric.query_id][names[metric.measure]] = float(metric.value)
    return found

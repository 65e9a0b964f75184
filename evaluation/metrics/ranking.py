"""Metrics of ranked lists: MAP, AvgRec and MRR of CQA (table 6).

The CQA metrics follow the organisers' scorer of SemEval Task 3: lists are cut at 10, a query
without a relevant candidate scores 0 and stays in the mean, and candidates with equal scores keep
the order of the file. These conventions reproduce every MAP, AvgRec and MRR that the organisers
print for subtask B, in 2016 and in 2017.

Each query first becomes a few numbers; a metric is a mean or a ratio of sums of these over queries.
"""

from collections.abc import Sequence

import numpy as np

CUT = 10


def ranked(scores: np.ndarray, relevant: np.ndarray) -> np.ndarray:
    """Return the labels, bool [candidates], by falling score; ties keep their order."""
    return np.asarray(relevant, dtype=bool)[np.argsort(-np.asarray(scores), kind="stable")]


def average_precision(labels: np.ndarray) -> float:
    """Return one query's mean precision at the ranks of relevant candidates in the first 10, or 0.

    Its mean over queries is MAP. `labels` is bool [candidates], best first (`ranked`).
    """
    ranks = np.flatnonzero(labels[:CUT]) + 1
    return float(np.mean(np.arange(1, len(ranks) + 1) / ranks)) if len(ranks) else 0.0


def reciprocal_rank(labels: np.ndarray) -> float:
    """Return 1 / rank of one query's first relevant candidate, 0 beyond 10; its mean is MRR."""
    positions = np.flatnonzero(labels[:CUT])
    return 1.0 / (positions[0] + 1) if len(positions) else 0.0


def recall_counts(rankings: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return hits@k of each query for k = 1..10 and the most possible: int [queries, 10] each.

    The most possible at k is min(k, relevant candidates of the query).
    """
    first = np.zeros((len(rankings), CUT), dtype=np.int64)
    for row, labels in zip(first, rankings, strict=True):
        row[: len(labels[:CUT])] = labels[:CUT]
    relevant = np.array([np.sum(labels) for labels in rankings])
    return np.cumsum(first, axis=1), np.minimum(np.arange(1, CUT + 1), relevant[:, None])


def average_recall(hits: np.ndarray, possible: np.ndarray) -> np.ndarray:
    """Return the scorer's AvgRec: the mean over k = 1..10 of hits@k over the most possible.

    Both are [..., queries, 10], of `recall_counts`, and are summed over queries before dividing.
    0 where no query has a relevant candidate.
    """
    hits, possible = np.sum(hits, axis=-2), np.sum(possible, axis=-2)
    return np.mean(hits / np.maximum(possible, 1), axis=-1)

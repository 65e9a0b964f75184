"""Metrics of CQA (table 6): MAP, AvgRec and MRR of ranked lists; P, R, F1, accuracy of labels.

They follow the organisers' scorer of SemEval Task 3: lists are cut at 10, a query without a
relevant candidate scores 0 and stays in the mean, and candidates with equal scores keep the order
of the file. These conventions reproduce every MAP, AvgRec and MRR that the organisers print for
subtask B, in 2016 and in 2017.

Each query first becomes a few numbers; a metric is a mean or a ratio of sums of these over queries.
"""

from collections.abc import Sequence

import numpy as np

CUT = 10
COUNTS = 5  # of a candidate or query: see `label_counts`


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


def label_counts(predicted: np.ndarray, relevant: np.ndarray) -> np.ndarray:
    """Return, for each candidate, what `from_counts` sums: int [..., 5].

    True positive, predicted, relevant, agreement, and 1. Both are bool [...].
    """
    predicted, relevant = np.asarray(predicted, dtype=bool), np.asarray(relevant, dtype=bool)
    columns = (predicted & relevant, predicted, relevant, predicted == relevant, True)
    return np.stack(np.broadcast_arrays(*columns), axis=-1).astype(np.int64)


def best_threshold(scores: np.ndarray, relevant: np.ndarray) -> float:
    """Return the score from which on a yes has the highest F1, float [items] and bool [items].

    It is the middle of the gap below the lowest yes; of equal F1 the highest is taken.
    """
    from sklearn.metrics import precision_recall_curve  # few commands need it

    precision, recall, distinct = precision_recall_curve(relevant, scores)
    precision, recall = precision[:-1], recall[:-1]
    both = precision + recall
    f1 = 2 * precision * recall / np.where(both > 0, both, 1.0)
    best = len(f1) - 1 - int(np.argmax(f1[::-1]))
    return float((distinct[max(0, best - 1)] + distinct[best]) / 2)


def from_counts(counts: np.ndarray) -> dict[str, np.ndarray]:
    """Return the scorer's precision, recall, F1 and accuracy of the label "true".

    `counts` is [..., items, 5], of `label_counts` or sums of these for each query. A ratio without
    a denominator is 0, as the scorer has it.
    """
    hits, predicted, relevant, agreement, total = np.moveaxis(np.sum(counts, axis=-2), -1, 0)
    precision = hits / np.maximum(1, predicted)
    recall = hits / np.maximum(1, relevant)
    both = precision + recall
    return {
        "precision": precision,
        "recall": recall,
        "f1": 2 * precision * recall / np.where(both > 0, both, 1.0),
        "accuracy": agreement / total,
    }

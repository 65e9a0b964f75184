"""Precision, recall, F1 and accuracy of yes-or-no labels (table 6)."""

import numpy as np

COUNTS = 5


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

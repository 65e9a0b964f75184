"""Accuracy (table 2), and precision, recall and F1 of yes-or-no labels (table 6)."""

import numpy as np

COUNTS = 5


def accuracy(predicted: np.ndarray, gold: np.ndarray) -> float:
    """Return how often two [n] vectors of labels agree."""
    if len(predicted) != len(gold) or not len(gold):
        raise ValueError(f"{len(predicted)} predicted labels for {len(gold)} gold labels")
    return float(np.mean(np.asarray(predicted) == np.asarray(gold)))


def label_counts(predicted: np.ndarray, relevant: np.ndarray) -> np.ndarray:
    """Return, for each candidate, what `from_counts` sums: int [..., 5].

    True positive, predicted, relevant, agreement, and 1. Both are bool [...].
    """
    predicted, relevant = np.asarray(predicted, dtype=bool), np.asarray(relevant, dtype=bool)
    columns = (predicted & relevant, predicted, relevant, predicted == relevant)
    return np.stack([*columns, np.ones_like(predicted)], axis=-1).astype(np.int64)


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


def classification(predicted: np.ndarray, relevant: np.ndarray) -> dict[str, float]:
    """Return precision, recall, F1 and accuracy of two bool [candidates], pooled over queries."""
    metrics = from_counts(label_counts(predicted, relevant))
    return {name: float(value) for name, value in metrics.items()}

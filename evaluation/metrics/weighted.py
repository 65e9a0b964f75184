"""The figures of `metrics.py` with each unit counted several times or not at all.

Many weightings at once: `weights` is float64 [resamples, units] everywhere, a figure is float64
[resamples], NaN where it is undefined. With each unit once they are the figures of `metrics.py`,
which the tests hold.
"""

from collections.abc import Sequence

import numpy as np

from evaluation.metrics.metrics import CUT

# A variance below this part of the whole data's is rounding: one side is constant.
CONSTANT = 1e-12


def ratio(weights: np.ndarray, above: np.ndarray, below: np.ndarray | float = 1.0) -> np.ndarray:
    """Return the sum of `above` over the sum of `below`, [units] each: a mean where that is 1."""
    parts = weights @ np.stack([above, np.broadcast_to(below, np.shape(above))], axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(parts[:, 1] == 0, np.nan, parts[:, 0] / parts[:, 1])


def pearson(weights: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return Pearson's r of `x` with `y`, float64 [units] each."""
    x, y = _standard(x), _standard(y)
    total = weights.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = weights @ np.stack([x, y, x * x, y * y, x * y], axis=1) / total[:, None]
    x_mean, y_mean, xx, yy, xy = means.T
    return _correlation(xy - x_mean * y_mean, xx - x_mean**2, yy - y_mean**2)


def spearman(weights: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return Spearman's rank correlation; ties share their mean rank, anew in each resample."""
    x_ranks, y_ranks = _centred_ranks(weights, x), _centred_ranks(weights, y)
    weighted = weights * x_ranks
    total = weights.sum(axis=1)
    # Relative to the variance of untied ranks, n^2 / 12.
    scale = np.maximum(total, 1.0) ** 3 / 12
    covariance = np.einsum("ij,ij->i", weighted, y_ranks)
    x_variance = np.einsum("ij,ij->i", weighted, x_ranks)
    y_variance = np.einsum("ij,ij,ij->i", weights, y_ranks, y_ranks)
    return _correlation(covariance / scale, x_variance / scale, y_variance / scale)


def _standard(values: np.ndarray) -> np.ndarray:
    """Return values with mean 0 and, unless they are constant, variance 1."""
    centred = np.asarray(values, dtype=np.float64) - np.mean(values)
    deviation = centred.std()
    return centred / deviation if deviation > 0 else np.zeros_like(centred)


def _correlation(covariance: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return covariance over the root of both variances."""
    defined = (x > CONSTANT) & (y > CONSTANT)
    product = np.where(defined, x * y, 1.0)
    return np.where(defined, np.clip(covariance / np.sqrt(product), -1.0, 1.0), np.nan)


def _centred_ranks(weights: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return the mean rank of each unit in each resample, less the mean of all ranks.

    A value that a resample holds w times, after c smaller ones, has the mean rank c + (w + 1) / 2.
    """
    order = np.argsort(values, kind="stable")
    _, starts, place = np.unique(np.asarray(values)[order], return_index=True, return_inverse=True)
    held = np.add.reduceat(weights[:, order], starts, axis=1)
    ranks = np.cumsum(held, axis=1) - (held - 1) / 2 - (held.sum(axis=1, keepdims=True) + 1) / 2
    of_unit = np.empty(len(order), dtype=np.int64)
    of_unit[order] = place
    return ranks[:, of_unit]


def average_recall(weights: np.ndarray, rankings: Sequence[np.ndarray]) -> np.ndarray:
    """Return AvgRec of weighted queries; `rankings` holds each query's labels, best first."""
    cut = np.zeros((len(rankings), CUT))
    for row, labels in zip(cut, rankings, strict=True):
        row[: len(labels[:CUT])] = labels[:CUT]
    ranks = np.arange(1, CUT + 1)
    relevant = np.array([np.sum(labels) for labels in rankings])
    hits = weights @ np.cumsum(cut, axis=1)
    most = weights @ np.minimum(ranks, relevant[:, None])
    some = most[:, :1] > 0
    return np.where(some, hits / np.where(some, most, 1.0), 0.0).mean(axis=1)


def classification(
    weights: np.ndarray, predicted: np.ndarray, relevant: np.ndarray, *, units: np.ndarray
) -> dict[str, np.ndarray]:
    """Return accuracy, precision, recall and F1, pooled over weighted queries.

    `predicted` and `relevant` are bool [candidates], `units` the query of each, from 0.
    """

    def summed(candidates: np.ndarray) -> np.ndarray:
        return weights @ np.bincount(units, candidates, minlength=weights.shape[1])

    hits = summed(predicted & relevant)
    precision = hits / np.maximum(1, summed(predicted))
    recall = hits / np.maximum(1, summed(relevant))
    both = precision + recall
    return {
        "precision": precision,
        "recall": recall,
        "f1": 2 * precision * recall / np.where(both > 0, both, 1.0),
        "accuracy": summed(predicted == relevant) / summed(np.ones_like(predicted)),
    }

"""Correlation of predicted with gold scores (tables 3 and 4 of the paper).

Every function works along the last axis, so one call computes the metric of one sample, [n], or
of many bootstrap resamples at once, [resamples, n].
"""

import numpy as np
import scipy.stats


def pearson(
    predicted: np.ndarray, gold: np.ndarray, *, where: np.ndarray | bool = True
) -> np.ndarray:
    """Return Pearson's r, sum(x y) / sqrt(sum(x^2) sum(y^2)) of centred x and y, in [-1, 1].

    Takes float [..., n], and bool [..., n] for the pairs that count; returns float64 [...], NaN
    where r is undefined: fewer than two pairs, or a constant input. The same to the last bit as
    `scipy.stats.pearsonr`, which cannot leave out elements.
    """
    products = np.vecdot(_unit(predicted, where=where), _unit(gold, where=where))
    return np.clip(products, -1.0, 1.0)


def _unit(values: np.ndarray, *, where: np.ndarray | bool) -> np.ndarray:
    """Return values less their mean, scaled to length 1: float64 [..., n]; NaN if constant."""
    values = np.asarray(values, dtype=np.float64)
    along: dict = {"axis": -1, "keepdims": True}
    count = np.sum(np.broadcast_to(where, values.shape), **along)
    low = np.min(values, initial=np.inf, where=where, **along)
    high = np.max(values, initial=-np.inf, where=where, **along)
    with np.errstate(invalid="ignore", divide="ignore"):
        centred = np.where(where, values - np.sum(values, where=where, **along) / count, 0.0)
        # Divided by the largest first, so that squares neither overflow nor vanish.
        largest = np.max(np.abs(centred), initial=0.0, **along)
        length = largest * np.linalg.norm(centred / largest, axis=-1, keepdims=True)
        return np.where(high > low, centred / length, np.nan)


def spearman(predicted: np.ndarray, gold: np.ndarray) -> np.ndarray:
    """Return Spearman's rank correlation: Pearson's r of ranks; ties share their mean rank.

    The same to the last bit as `scipy.stats.spearmanr`, which has no axis for paired samples.
    """
    x, y = (scipy.stats.rankdata(np.asarray(values), axis=-1) for values in (predicted, gold))
    x, y = (ranks - ranks.mean(axis=-1, keepdims=True) for ranks in (x, y))
    with np.errstate(invalid="ignore", divide="ignore"):
        scale = np.true_divide(1, x.shape[-1] - 1)
        x_deviation, y_deviation = (np.sqrt(np.vecdot(ranks, ranks) * scale) for ranks in (x, y))
        correlation = np.vecdot(x, y) * scale / y_deviation / x_deviation
    return np.clip(correlation, -1.0, 1.0)

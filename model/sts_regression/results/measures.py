"""Pearson's r and mean squared error, and intervals over folds; knows no TensorFlow."""

from collections.abc import Sequence

import numpy as np
from scipy import stats

_LEVEL = 0.95
_RESAMPLES = 1000
_ALIKE = 0.01
"""Scores in [0, 5] that differ by less are one score: a network that gives all pairs the same has
no correlation, though rounding leaves it one."""


def scores(predicted: np.ndarray, gold: np.ndarray) -> dict[str, float | None]:
    """`pearson`, None where one side is all alike, and `mse`, of two [n]."""
    return {"pearson": pearson(predicted, gold), "mse": mse(predicted, gold)}


def mse(predicted: np.ndarray, gold: np.ndarray) -> float:
    """Mean squared error of two [n]."""
    return float(np.mean((np.asarray(predicted, np.float64) - gold) ** 2))


def pearson(predicted: np.ndarray, gold: np.ndarray) -> float | None:
    """Pearson's r of two [n] (section 5); None where it is undefined."""
    if len(gold) < 2 or np.ptp(predicted) < _ALIKE or np.ptp(gold) < _ALIKE:
        return None
    return float(stats.pearsonr(np.asarray(predicted, np.float64), gold).statistic)


def mean(values: Sequence[float | None]) -> float | None:
    """The mean over folds; None where one of them has no value."""
    defined = [value for value in values if value is not None]
    return float(np.mean(defined)) if defined and len(defined) == len(values) else None


def interval(values: Sequence[float | None], *, bounds: tuple[float, float]) -> list[float] | None:
    """95% of the mean over folds, by Student's t: [low, high]; None for fewer than 2 folds.

    What lies beyond the bounds of the measure is cut off.

    Folds share training pairs, so that they are more alike than runs on new data would be.
    """
    middle = mean(values)
    if middle is None or len(values) < 2:
        return None
    half = stats.sem(values) * stats.t.ppf((1 + _LEVEL) / 2, len(values) - 1)
    return np.clip([middle - half, middle + half], *bounds).tolist()


def bootstrap(predicted: np.ndarray, gold: np.ndarray, *, seed: int) -> list[float] | None:
    """95% of Pearson's r over resampled pairs, for a single split: [low, high]."""
    if pearson(predicted, gold) is None:
        return None
    order = np.random.default_rng(seed)
    drawn = [order.integers(len(gold), size=len(gold)) for _ in range(_RESAMPLES)]
    found = [pearson(predicted[some], gold[some]) for some in drawn]
    defined = [value for value in found if value is not None]
    low, high = np.quantile(defined, [(1 - _LEVEL) / 2, (1 + _LEVEL) / 2])
    return [float(low), float(high)]

"""Pearson's r, the mean squared error and their intervals."""

from collections.abc import Sequence

import numpy as np
from scipy import stats

from common import statistics
from common.statistics import Sample

_LEVEL = 0.95
_ALIKE = 0.01
"""Scores in [0, 5] within a smaller range count as constant: rounding alone would otherwise give a
network that scores all pairs alike a correlation."""


def scores(predicted: np.ndarray, gold: np.ndarray) -> dict[str, float | None]:
    """`pearson`, None where one side is constant, and `mse`, the mean squared error, of two [n]."""
    mse = float(np.mean((np.asarray(predicted, np.float64) - gold) ** 2))
    return {"pearson": pearson(predicted, gold), "mse": mse}


def pearson(predicted: np.ndarray, gold: np.ndarray) -> float | None:
    """Pearson's r of two [n] (section 5); None where it is undefined."""
    found = float(_pearson(predicted, gold)) if len(gold) > 1 else np.nan
    return None if np.isnan(found) else found


def _pearson(predicted: np.ndarray, gold: np.ndarray) -> np.ndarray:
    """Pearson's r of two [..., n]: float64 [...], NaN where one side is constant."""
    alike = [np.ptp(side, axis=-1) < _ALIKE for side in (predicted, gold)]
    return np.where(np.logical_or(*alike), np.nan, correlation(predicted, gold))


def correlation(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Pearson's r of two [..., n]: float64 [...], NaN where it is undefined."""
    sides = [np.asarray(side, np.float64) for side in (first, second)]
    a, b = (side - side.mean(axis=-1, keepdims=True) for side in sides)
    with np.errstate(invalid="ignore"):
        return (a * b).sum(axis=-1) / np.sqrt((a * a).sum(axis=-1) * (b * b).sum(axis=-1))


def mean(values: Sequence[float | None]) -> float | None:
    """The mean over folds; None if a fold has no value."""
    return None if None in values else float(np.mean(values))  # type: ignore[arg-type]


def interval(values: Sequence[float | None], *, bounds: tuple[float, float]) -> list[float] | None:
    """95% interval of the mean over folds, by Student's t: [low, high]; None for one fold.

    It is for folds that score different pairs. It is clipped to the bounds of the measure. Folds
    share training pairs, so they vary less than runs on new data would.
    """
    middle = mean(values)
    if middle is None or len(values) < 2:
        return None
    half = stats.sem(values) * stats.t.ppf((1 + _LEVEL) / 2, len(values) - 1)
    return np.clip([middle - half, middle + half], *bounds).tolist()


def bootstrap(predicted: np.ndarray, gold: np.ndarray, *, seed: int) -> list[float] | None:
    """95% interval over resampled pairs of the mean over folds of Pearson's r: [low, high].

    Args:
      predicted: float [folds, pairs], of folds that score the same pairs.
      gold: float [pairs].
      seed: of the resamples.
    """

    def metrics(pairs: np.ndarray) -> dict[str, np.ndarray]:
        return {"r": np.mean([_pearson(fold[pairs], gold[pairs]) for fold in predicted], axis=0)}

    return statistics.intervals(Sample(len(gold), metrics), seed=seed).get("r")

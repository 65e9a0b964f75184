"""Pearson's r, the mean squared error and their intervals."""

import math
import warnings
from collections.abc import Sequence

import numpy as np
from scipy import stats

_LEVEL = 0.95
_RESAMPLES = 1000
_ALIKE = 0.01
"""Scores in [0, 5] within a smaller range count as constant: rounding alone would otherwise give a
network that scores all pairs alike a correlation."""


def scores(predicted: np.ndarray, gold: np.ndarray) -> dict[str, float | None]:
    """`pearson`, None where one side is constant, and `mse`, of two [n]."""
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
    """The mean over folds; None if a fold has no value."""
    defined = [value for value in values if value is not None]
    return float(np.mean(defined)) if defined and len(defined) == len(values) else None


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
    """95% interval over resampled pairs of Pearson's r, or of its mean over folds: [low, high].

    Args:
      predicted: [pairs], or [folds, pairs] of folds that score the same pairs.
      gold: [pairs].
      seed: of the resamples.

    Returns:
      None where r is undefined; resamples for which it is undefined are left out.
    """
    folds = np.atleast_2d(predicted).astype(np.float64)

    def r(pairs: np.ndarray) -> float:
        scored, by_people = folds[:, pairs], gold[np.newaxis, pairs]
        if min(np.ptp(scored, axis=1).min(), np.ptp(by_people)) < _ALIKE:
            return math.nan
        return float(stats.pearsonr(scored, by_people, axis=1).statistic.mean())

    everything = np.arange(len(gold))
    if math.isnan(r(everything)):
        return None

    with warnings.catch_warnings():  # about resamples for which r is undefined
        warnings.simplefilter("ignore", stats.DegenerateDataWarning)
        found = stats.bootstrap(
            (everything,),
            r,
            n_resamples=_RESAMPLES,
            vectorized=False,
            method="percentile",
            rng=seed,
        )
    tails = [(1 - _LEVEL) / 2, (1 + _LEVEL) / 2]
    return np.nanquantile(found.bootstrap_distribution, tails).tolist()

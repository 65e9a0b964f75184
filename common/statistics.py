"""Correlations, and 95% intervals: how far a metric would move on other data of the same kind.

The bootstrap (Efron 1979): a resample draws as many units (pairs, queries, blocks) as there are,
with replacement. All metrics of a result are computed on the same resamples, with the same
functions as on the data itself. An interval holds the middle 95% of the resampled values.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import scipy.stats

RESAMPLES = 2000
LEVEL = 0.95
_CELLS = 1 << 21  # indices in memory at a time: 16 MB, whatever the number of units
_UNDEFINED = 0.05
"""A metric that is undefined, as of a constant input, in more of the resamples has no interval."""

Interval = list[float]


@dataclass(frozen=True)
class Sample:
    """What is resampled: how many units there are, and the metrics of any choice of them.

    `metrics` takes indices of units, int [..., units], and returns each metric's values, [...].
    """

    units: int
    metrics: Callable[[np.ndarray], Mapping[str, np.ndarray]]

    def once(self) -> dict[str, float]:
        """The metrics of the data itself, every unit once."""
        return {name: float(value) for name, value in self.metrics(np.arange(self.units)).items()}


def distribution(sample: Sample, *, seed: int, resamples: int = RESAMPLES) -> dict[str, np.ndarray]:
    """Each metric in every resample, float64 [resamples]; NaN where it is undefined."""
    generator, most = np.random.default_rng(seed), max(1, _CELLS // sample.units)
    sizes = [min(most, resamples - done) for done in range(0, resamples, most)]
    drawn = (generator.integers(sample.units, size=(size, sample.units)) for size in sizes)
    found = [sample.metrics(indices) for indices in drawn]
    return {name: np.concatenate([part[name] for part in found]) for name in found[0]}


def interval(values: np.ndarray) -> Interval | None:
    """The 95% interval of one metric's resampled values; None where it has none."""
    defined = values[~np.isnan(values)]
    if len(defined) < (1 - _UNDEFINED) * len(values):
        return None
    tail = (1 - LEVEL) / 2
    return np.quantile(defined, [tail, 1 - tail]).tolist()


def intervals(sample: Sample, *, seed: int) -> dict[str, Interval]:
    """The 95% interval [low, high] of each metric that has one."""
    if sample.units < 2:
        return {}
    drawn = distribution(sample, seed=seed)
    return {name: ends for name, values in drawn.items() if (ends := interval(values))}


def fisher_interval(r: float, n: int) -> Interval:
    """Fisher's interval of Pearson's r over n > 3 pairs: tanh(artanh(r) ± 1.96/√(n - 3)).

    For a published figure, an approximation: on the STS Benchmark it and the bootstrap's differ by
    less than 0.005 at either end.
    """
    reach = scipy.stats.norm.ppf((1 + LEVEL) / 2) / np.sqrt(n - 3)
    low, high = np.tanh(np.arctanh(r) + reach * np.array([-1.0, 1.0]))
    return [float(low), float(high)]


def wilson_interval(share: float, n: int) -> Interval:
    """Wilson's interval of a published share of n items, such as an accuracy."""
    found = scipy.stats.binomtest(round(share * n), n).proportion_ci(LEVEL, method="wilson")
    return [float(found.low), float(found.high)]


def pearson(
    predicted: np.ndarray, gold: np.ndarray, *, where: np.ndarray | bool = True
) -> np.ndarray:
    """Pearson's r, sum(x y) / sqrt(sum(x^2) sum(y^2)) of centred x and y, in [-1, 1].

    Takes float [..., n], so one call does many resamples, and bool [..., n] for the pairs that
    count; returns float64 [...], NaN where r is undefined: fewer than two pairs, or a constant
    input. The same to the last bit as `scipy.stats.pearsonr`, which cannot leave out elements.
    """
    products = np.vecdot(_unit(predicted, where=where), _unit(gold, where=where))
    return np.clip(products, -1.0, 1.0)


def _unit(values: np.ndarray, *, where: np.ndarray | bool) -> np.ndarray:
    """Values less their mean, scaled to length 1: float64 [..., n]; NaN if constant."""
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
    """Spearman's rank correlation: Pearson's r of ranks; ties share their mean rank."""
    ranks = (scipy.stats.rankdata(values, axis=-1) for values in (predicted, gold))
    return pearson(*ranks)

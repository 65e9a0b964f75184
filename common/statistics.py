"""Bootstrap intervals: how far a metric would move on other data of the same kind (Efron 1979).

A resample draws as many units (pairs, queries, blocks) as there are, with replacement. All metrics
of a result are computed on the same resamples, with the same functions as on the data itself. An
interval holds the middle 95% of the resampled values.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

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

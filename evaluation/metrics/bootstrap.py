"""Bootstrap intervals: how far a figure would move on other data of the same kind.

A resample draws as many units (pairs, queries, blocks) as there are, with replacement. It is
told by how often it holds each unit, so a figure is a weighted figure (`weighted.py`) and
thousands of resamples cost a few matrix products. Intervals are percentiles of the resampled
figures, 95% of them (Efron 1979).
"""

from collections.abc import Callable, Iterator, Mapping

import numpy as np

RESAMPLES = 2000
LEVEL = 0.95
# Weights in memory at a time: 16 MB, whatever the number of units.
CELLS = 1 << 21
# A figure that is undefined in more resamples than this part (a constant side, say) has none.
UNDEFINED = 0.05

Figures = Callable[[np.ndarray], Mapping[str, np.ndarray]]
"""From weights, float64 [resamples, units], to each figure's values, float64 [resamples]."""

Interval = list[float]


def weights(units: int, *, seed: int) -> Iterator[np.ndarray]:
    """Yield the weights of all resamples in pieces, float64 [some, units]; rows sum to `units`."""
    random = np.random.default_rng(seed)
    rows = max(1, CELLS // units)
    for start in range(0, RESAMPLES, rows):
        count = min(rows, RESAMPLES - start)
        drawn = random.integers(units, size=(count, units)) + units * np.arange(count)[:, None]
        held = np.bincount(drawn.ravel(), minlength=count * units)
        yield held.reshape(count, units).astype(np.float64)


def distribution(figures: Figures, units: int, *, seed: int) -> dict[str, np.ndarray]:
    """Return each figure in every resample, float64 [RESAMPLES]; NaN where it is undefined."""
    pieces = [figures(held) for held in weights(units, seed=seed)]
    return {name: np.concatenate([piece[name] for piece in pieces]) for name in pieces[0]}


def once(figures: Figures, units: int) -> dict[str, float]:
    """Return each figure on the data itself, every unit once."""
    return {name: float(values[0]) for name, values in figures(np.ones((1, units))).items()}


def interval(values: np.ndarray) -> Interval | None:
    """Return the 95% interval of one figure's resampled values; None where it has none."""
    defined = values[~np.isnan(values)]
    if len(defined) < (1 - UNDEFINED) * len(values):
        return None
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(defined, [tail, 1 - tail])
    return [float(low), float(high)]


def intervals(figures: Figures, units: int, *, seed: int) -> dict[str, Interval]:
    """Return the 95% interval [low, high] of each figure that has one."""
    if units < 2:
        return {}
    found = {
        name: interval(values) for name, values in distribution(figures, units, seed=seed).items()
    }
    return {name: ends for name, ends in found.items() if ends is not None}

"""95% intervals of published figures, from the figure and the number of items alone.

For rows of which only the figure is printed. Both formulas are approximations; on the STS Benchmark
Fisher's interval and the bootstrap's differ by less than 0.005 at either end.
"""

import numpy as np
import scipy.stats

from common.statistics import LEVEL, Interval


def of_correlation(r: float, n: int) -> Interval:
    """Return Fisher's interval of Pearson's r over n > 3 pairs: tanh(artanh(r) ± 1.96/√(n - 3))."""
    reach = scipy.stats.norm.ppf((1 + LEVEL) / 2) / np.sqrt(n - 3)
    low, high = np.tanh(np.arctanh(r) + reach * np.array([-1.0, 1.0]))
    return [float(low), float(high)]


def of_proportion(share: float, n: int) -> Interval:
    """Return Wilson's interval of a share of n items, such as an accuracy."""
    interval = scipy.stats.binomtest(round(share * n), n).proportion_ci(LEVEL, method="wilson")
    return [float(interval.low), float(interval.high)]

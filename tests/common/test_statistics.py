import numpy as np
import pytest
import scipy.stats

from common import statistics
from common.statistics import Sample


@pytest.fixture(scope="module")
def pairs():
    """300 pairs with ties on both sides, as gold scores have them."""
    random = np.random.default_rng(5)
    gold = random.integers(0, 26, size=300) / 5
    return np.round(gold + random.normal(0, 1.5, size=300), 1), gold


def correlations(x, y):
    return Sample(
        len(x),
        lambda units: {
            "pearson": statistics.pearson(x[units], y[units]),
            "spearman": statistics.spearman(x[units], y[units]),
        },
    )


@pytest.mark.parametrize("resamples_at_once", [7, statistics.RESAMPLES])
def test_intervals_agree_with_scipys_bootstrap(pairs, monkeypatch, resamples_at_once):
    x, y = pairs
    monkeypatch.setattr(statistics, "_CELLS", resamples_at_once * len(x))
    found = statistics.intervals(correlations(x, y), seed=0)

    def pearson(x, y, axis):
        return scipy.stats.pearsonr(x, y, axis=axis).statistic

    theirs = scipy.stats.bootstrap(
        (x, y), pearson, paired=True, vectorized=True, n_resamples=2000, method="percentile", rng=0
    ).confidence_interval
    assert found["pearson"] == pytest.approx([theirs.low, theirs.high], abs=1e-12)
    low, high = found["spearman"]
    assert low < scipy.stats.spearmanr(x, y).statistic < high


def test_what_is_undefined_has_no_interval():
    constant = correlations(np.full(9, 3.3), np.arange(9.0))
    assert statistics.intervals(constant, seed=0) == {}
    assert statistics.intervals(correlations(np.ones(1), np.ones(1)), seed=0) == {}
    # Two different pairs: half of the resamples hold one of them twice.
    assert statistics.intervals(correlations(np.arange(2.0), np.arange(2.0)), seed=0) == {}

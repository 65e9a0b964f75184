import numpy as np
import pytest
import scipy.stats

from evaluation.metrics import bootstrap, metrics, weighted


@pytest.fixture(scope="module")
def pairs():
    """300 pairs with ties on both sides, as gold scores have them."""
    random = np.random.default_rng(5)
    gold = random.integers(0, 26, size=300) / 5
    return np.round(gold + random.normal(0, 1.5, size=300), 1), gold


def correlations(x, y):
    return lambda weights: {
        "pearson": weighted.pearson(weights, x, y),
        "spearman": weighted.spearman(weights, x, y),
    }


def test_weights_are_resamples():
    pieces = list(bootstrap.weights(7, seed=1))
    held = np.concatenate(pieces)
    assert held.shape == (bootstrap.RESAMPLES, 7)
    assert (held.sum(axis=1) == 7).all()
    assert held.mean() == 1.0
    assert held.var() == pytest.approx(6 / 7, abs=0.03)  # binomial: n p (1 - p)


def test_pieces_do_not_change_what_is_drawn(monkeypatch):
    whole = np.concatenate(list(bootstrap.weights(11, seed=3)))
    monkeypatch.setattr(bootstrap, "CELLS", 11 * 7)
    pieces = list(bootstrap.weights(11, seed=3))
    assert len(pieces) > 1
    assert (np.concatenate(pieces) == whole).all()


def test_each_resample_is_what_scipy_says_of_it(pairs):
    """Weights against rows really drawn several times over."""
    x, y = pairs
    held = next(bootstrap.weights(len(x), seed=0))[:20]
    found = correlations(x, y)(held)
    for row, pearson, spearman in zip(held, found["pearson"], found["spearman"], strict=True):
        drawn = np.repeat(np.arange(len(x)), row.astype(int))
        assert pearson == pytest.approx(scipy.stats.pearsonr(x[drawn], y[drawn]).statistic)
        assert spearman == pytest.approx(scipy.stats.spearmanr(x[drawn], y[drawn]).statistic)


def test_intervals_agree_with_scipys_bootstrap(pairs):
    x, y = pairs
    found = bootstrap.intervals(correlations(x, y), len(x), seed=0)

    def pearson(x, y, axis):
        return scipy.stats.pearsonr(x, y, axis=axis).statistic

    theirs = scipy.stats.bootstrap(
        (x, y), pearson, paired=True, vectorized=True, n_resamples=4000, method="percentile", rng=1
    ).confidence_interval
    assert found["pearson"] == pytest.approx([theirs.low, theirs.high], abs=0.01)
    low, high = found["spearman"]
    assert low < scipy.stats.spearmanr(x, y).statistic < high


def test_intervals_cover_as_often_as_they_say():
    """Of a proportion of 0.4: 95% of the intervals of 200 samples hold it, give or take."""
    random = np.random.default_rng(0)
    held = 0
    for seed in range(200):
        right = (random.random(150) < 0.4).astype(float)
        (low, high) = bootstrap.intervals(
            lambda weights, right=right: {"accuracy": weighted.ratio(weights, right)},
            150,
            seed=seed,
        )["accuracy"]
        held += low <= 0.4 <= high
    assert 0.90 <= held / 200 <= 0.99


def test_the_seed_decides(pairs):
    figures = correlations(*pairs)
    first = bootstrap.intervals(figures, 300, seed=0)
    assert bootstrap.intervals(figures, 300, seed=0) == first
    assert bootstrap.intervals(figures, 300, seed=1) != first


def test_once_is_the_figure_itself(pairs):
    x, y = pairs
    found = bootstrap.once(correlations(x, y), len(x))
    assert found["pearson"] == pytest.approx(metrics.pearson(x, y), abs=1e-12)
    assert found["spearman"] == pytest.approx(metrics.spearman(x, y), abs=1e-12)


def test_what_is_undefined_has_no_interval():
    constant = correlations(np.full(9, 3.3), np.arange(9.0))
    assert bootstrap.intervals(constant, 9, seed=0) == {}
    assert bootstrap.intervals(correlations(np.ones(1), np.ones(1)), 1, seed=0) == {}
    # Two different pairs: half of the resamples hold one of them twice.
    assert bootstrap.intervals(correlations(np.arange(2.0), np.arange(2.0)), 2, seed=0) == {}


def test_ratio_by_hand():
    weights = np.array([[1.0, 1, 1], [2, 0, 1], [0, 3, 0]])
    above, below = np.array([1.0, 0, 3]), np.array([2.0, 0, 4])
    assert weighted.ratio(weights, above, below) == pytest.approx(
        [4 / 6, 5 / 8, np.nan], nan_ok=True
    )


def test_ranking_figures_of_weighted_queries():
    rankings = [np.array(labels, dtype=bool) for labels in ([0, 1, 1], [1, 0], [0, 0, 0, 0])]
    weights = np.array([[1.0, 1, 1], [2, 0, 1]])
    found = weighted.average_recall(weights, rankings)
    assert found[0] == pytest.approx(metrics.average_recall(rankings))
    twice = metrics.average_recall([rankings[0], rankings[0], rankings[2]])
    assert found[1] == pytest.approx(twice)
    assert weighted.average_recall(np.array([[0.0, 0, 3]]), rankings) == [0.0]


def test_classification_of_weighted_queries():
    predicted = np.array([True, True, False, True, False])
    relevant = np.array([True, False, True, True, False])
    units = np.array([0, 0, 0, 1, 2])
    weights = np.array([[1.0, 1, 1], [2, 1, 0], [0, 0, 3]])
    found = weighted.classification(weights, predicted, relevant, units=units)
    drawn = np.array([0, 1, 2, 0, 1, 2, 3])
    for row, expected in (
        (0, metrics.classification(predicted, relevant)),
        (1, metrics.classification(predicted[drawn], relevant[drawn])),
        (2, {"precision": 0.0, "recall": 0.0, "f1": 0.0, "accuracy": 1.0}),
    ):
        assert {name: values[row] for name, values in found.items()} == pytest.approx(expected)

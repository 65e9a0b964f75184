import numpy as np
import pytest

from model.sts_regression.results import measures


def test_scores_by_hand():
    found = measures.scores(np.array([1.0, 2.0, 4.0]), np.array([1.0, 3.0, 3.0]))
    # Deviations -4/3, -1/3, 5/3 and -4/3, 2/3, 2/3: r = (24/9) / sqrt(42/9 * 24/9)
    assert found["pearson"] == pytest.approx((24 / 42) ** 0.5)
    assert found["mse"] == pytest.approx((0 + 1 + 1) / 3)


def test_a_constant_prediction_has_no_correlation():
    assert measures.scores(np.ones(3), np.arange(3.0)) == {"pearson": None, "mse": 2 / 3}
    # What rounding leaves of one score is no more.
    assert measures.pearson(np.array([2.6757, 2.6758, 2.6758]), np.arange(3.0)) is None
    assert measures.pearson(np.array([2.6, 2.7, 2.8]), np.arange(3.0)) == pytest.approx(1)


def test_the_interval_over_folds_is_students():
    # Mean 0.5, standard error 0.1 / sqrt(3), t(2 degrees, 97.5%) = 4.302653
    low, high = measures.interval([0.4, 0.5, 0.6], bounds=(-1, 1))
    assert (low, high) == pytest.approx(
        (0.5 - 4.302653 * 0.1 / 3**0.5, 0.5 + 4.302653 * 0.1 / 3**0.5)
    )
    assert measures.interval([0.4], bounds=(-1, 1)) is None
    assert measures.interval([0.0, 0.9], bounds=(-1, 1)) == [-1, 1]


def test_a_fold_without_a_value_leaves_no_mean():
    assert measures.mean([0.4, None]) is None
    assert measures.interval([0.4, None], bounds=(-1, 1)) is None


def test_resampled_pairs_give_an_interval_around_r():
    draw = np.random.default_rng(0)
    gold = draw.normal(size=200)
    predicted = gold + draw.normal(size=200)
    low, high = measures.bootstrap(predicted, gold, seed=1)
    assert low < measures.pearson(predicted, gold) < high
    assert high - low == pytest.approx(2 * 1.96 * (1 - 0.5) / 200**0.5, rel=0.3)


def test_folds_that_score_the_same_pairs_are_resampled_together():
    draw = np.random.default_rng(0)
    gold = draw.normal(size=200)
    predicted = gold + draw.normal(size=200)
    one = measures.bootstrap(predicted, gold, seed=1)
    # Ten times the same predictions say no more than once.
    assert measures.bootstrap(np.tile(predicted, (10, 1)), gold, seed=1) == pytest.approx(one)
    assert measures.bootstrap(np.stack([predicted, np.ones(200)]), gold, seed=1) is None

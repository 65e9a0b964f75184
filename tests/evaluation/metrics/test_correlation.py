"""Every golden here is worked out by hand in its comment."""

import numpy as np
import pytest
import scipy.stats

from evaluation.metrics import correlation


@pytest.mark.parametrize("figure", [correlation.pearson, correlation.spearman])
def test_correlation_is_nan_where_undefined(figure):
    assert np.isnan(figure(np.array([1.0, 1.0]), np.array([1.0, 2.0])))
    assert np.isnan(figure(np.array([1.0, 2.0]), np.array([3.0, 3.0])))
    assert np.isnan(figure(np.array([1.0]), np.array([2.0])))
    with pytest.raises(ValueError, match="2"):
        figure(np.zeros(2), np.zeros(3))


def test_errors_are_distances_from_the_fitted_line():
    # By hand: through (0, 0), (1, 2), (2, 1) the best line is 0.5 + 0.5 x.
    found = correlation.line_errors(np.array([0.0, 1.0, 2.0]), np.array([0.0, 2.0, 1.0]))
    assert found == pytest.approx([0.5, -1.0, 0.5])
    same = correlation.line_errors(np.array([3.0, 3.0]), np.array([1.0, 5.0]))
    assert same == pytest.approx([2.0, -2.0])


def test_the_same_to_the_last_bit_as_scipy():
    random = np.random.default_rng(0)
    gold = random.integers(0, 26, size=300) / 5
    x = gold + random.normal(0, 1.5, size=300)
    assert correlation.pearson(x, gold) == scipy.stats.pearsonr(x, gold).statistic
    assert correlation.spearman(x, gold) == scipy.stats.spearmanr(x, gold).statistic
    drawn = random.integers(300, size=(20, 300))
    many = correlation.pearson(x[drawn], gold[drawn])
    assert (many == [correlation.pearson(x[row], gold[row]) for row in drawn]).all()
    many = correlation.spearman(x[drawn], gold[drawn])
    assert (many == [correlation.spearman(x[row], gold[row]) for row in drawn]).all()


def test_pearson_of_some_elements():
    x, y = np.array([1.0, 9.0, 2.0, 3.0]), np.array([1.0, 0.0, 4.0, 4.0])
    some = np.array([True, False, True, True])
    assert correlation.pearson(x, y, where=some) == pytest.approx(3 / 12**0.5)
    rows = correlation.pearson(
        np.stack([x, x]), np.stack([y, y]), where=np.array([some, [False, False, True, True]])
    )
    assert rows[0] == pytest.approx(3 / 12**0.5)
    assert np.isnan(rows[1])  # y is constant there
    assert np.isnan(correlation.pearson(x, y, where=np.zeros(4, bool)))

"""Every golden here is worked out by hand in its comment."""

import numpy as np
import pytest

from evaluation.metrics import ranking


def labels(text):
    return np.array([letter == "+" for letter in text])


def mean_average_precision(rankings):
    return np.mean([ranking.average_precision(one) for one in rankings])


def mean_reciprocal_rank(rankings):
    return np.mean([ranking.reciprocal_rank(one) for one in rankings])


def average_recall(rankings):
    return ranking.average_recall(*ranking.recall_counts(rankings))


def test_ties_keep_file_order():
    # An unstable sort goes wrong only on longer lists.
    rows = np.arange(100)
    many = ranking.ranked(rows % 2, rows % 3 == 0)
    assert many.tolist() == [i % 3 == 0 for i in [*range(1, 100, 2), *range(0, 100, 2)]]


def test_lists_are_cut_at_ten():
    eleventh = labels("----------+")
    assert mean_average_precision([eleventh]) == 0
    assert mean_reciprocal_rank([eleventh]) == 0
    assert mean_reciprocal_rank([labels("---------++")]) == pytest.approx(0.1)
    # The one at 11 counts neither as found nor, in MAP, as missed: (1/1) / 1.
    assert mean_average_precision([labels("+---------+")]) == 1


def test_average_recall_pools_over_queries():
    # Relevant: 2 and 1. Hits@k over both: 1, 2, then 3; most possible: 2, then 3.
    # The mean over queries of recall at k would be (0.5 + 0.5 + 8 + 0 + 9) / 20 instead.
    rankings = [labels("+-+"), labels("-+-")]
    assert average_recall(rankings) == pytest.approx((1 / 2 + 2 / 3 + 8) / 10)

"""Every golden here is worked out by hand in its comment."""

import re

import numpy as np
import pytest
import scipy.stats

import evaluation
from common import statistics
from evaluation.metrics import ranking


@pytest.mark.parametrize("figure", [statistics.pearson, statistics.spearman])
def test_correlation_is_nan_where_undefined(figure):
    for x, y in (([1.0, 1.0], [1.0, 2.0]), ([1.0, 2.0], [3.0, 3.0]), ([1.0], [2.0])):
        assert np.isnan(figure(np.array(x), np.array(y)))
    with pytest.raises(ValueError, match="2"):
        figure(np.zeros(2), np.zeros(3))


def test_the_same_as_scipy_and_of_many_resamples_to_the_last_bit():
    random = np.random.default_rng(0)
    gold = random.integers(0, 26, size=300) / 5
    x = gold + random.normal(0, 1.5, size=300)
    assert statistics.pearson(x, gold) == scipy.stats.pearsonr(x, gold).statistic
    assert statistics.spearman(x, gold) == pytest.approx(scipy.stats.spearmanr(x, gold).statistic)
    drawn = random.integers(300, size=(20, 300))
    many = statistics.pearson(x[drawn], gold[drawn])
    assert (many == [statistics.pearson(x[row], gold[row]) for row in drawn]).all()
    many = statistics.spearman(x[drawn], gold[drawn])
    assert (many == [statistics.spearman(x[row], gold[row]) for row in drawn]).all()


def test_pearson_of_some_elements():
    x, y = np.array([1.0, 9.0, 2.0, 3.0]), np.array([1.0, 0.0, 4.0, 4.0])
    some = np.array([True, False, True, True])
    assert statistics.pearson(x, y, where=some) == pytest.approx(3 / 12**0.5)
    rows = statistics.pearson(
        np.stack([x, x]), np.stack([y, y]), where=np.array([some, [False, False, True, True]])
    )
    assert rows[0] == pytest.approx(3 / 12**0.5)
    assert np.isnan(rows[1])  # y is constant there
    assert np.isnan(statistics.pearson(x, y, where=np.zeros(4, bool)))


def test_of_equal_f1_the_highest_threshold_is_taken_and_without_a_yes_ratios_are_0():
    scores, relevant = np.array([0.9, 0.7, 0.5, 0.3]), np.array([True, False, False, True])
    # From 0.9 on: P 1, R 1/2; from 0.3 on: P 1/2, R 1.
    assert ranking.best_threshold(scores, relevant) == pytest.approx(0.8)
    counts = ranking.label_counts(np.zeros(3, bool), np.zeros(3, bool))
    nothing = ranking.from_counts(counts)
    assert nothing == {"precision": 0.0, "recall": 0.0, "f1": 0.0, "accuracy": 1.0}


def labels(text):
    return np.array([letter == "+" for letter in text])


def test_ties_keep_file_order_and_lists_are_cut_at_ten():
    # An unstable sort goes wrong only on longer lists.
    rows = np.arange(100)
    many = ranking.ranked(rows % 2, rows % 3 == 0)
    assert many.tolist() == [i % 3 == 0 for i in [*range(1, 100, 2), *range(0, 100, 2)]]
    eleventh = labels("----------+")
    assert ranking.average_precision(eleventh) == ranking.reciprocal_rank(eleventh) == 0
    assert ranking.reciprocal_rank(labels("---------++")) == pytest.approx(0.1)
    # The one at 11 counts neither as found nor, in MAP, as missed: (1/1) / 1.
    assert ranking.average_precision(labels("+---------+")) == 1


def test_the_threshold_divides_the_pairs(write_text, run, fails, word_encoder, monkeypatch):
    monkeypatch.setattr(evaluation, "load_encoder", lambda _: word_encoder, raising=False)
    rows = ["where is it,where is it,1", "where is it,where is that,1", "where is it,red house,0"]
    header = "question,match,label"
    command = ["threshold", "--module", "module", "--columns", *header.split(","), "--data"]
    printed = run(*command, write_text("labelled.csv", "\n".join([header, *rows, ""])))
    (threshold,) = re.findall(r"^threshold (\S+)$", printed, re.MULTILINE)
    assert 0 < float(threshold) < 1
    assert "f1 1.000" in printed
    for label in ("2", "0"):
        wrong = [header, *rows[:2], f"a,b,{label}", "c,d,3"]
        assert "wrong.csv" in fails(*command, write_text("wrong.csv", "\n".join([*wrong, ""])))

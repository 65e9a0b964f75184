"""Measures by hand, and the tables of them."""

import numpy as np
import pytest

from model.sts_regression.experiments import TABLE_2
from model.sts_regression.results import measures, table


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
    low, high = measures.bootstrap(predicted[np.newaxis], gold, seed=1)
    assert low < measures.pearson(predicted, gold) < high
    assert high - low == pytest.approx(2 * 1.96 * (1 - 0.5) / 200**0.5, rel=0.3)


def test_folds_that_score_the_same_pairs_are_resampled_together():
    draw = np.random.default_rng(0)
    gold = draw.normal(size=200)
    predicted = gold + draw.normal(size=200)
    one = measures.bootstrap(predicted[np.newaxis], gold, seed=1)
    # Ten times the same predictions say no more than once.
    assert measures.bootstrap(np.tile(predicted, (10, 1)), gold, seed=1) == pytest.approx(one)
    assert measures.bootstrap(np.stack([predicted, np.ones(200)]), gold, seed=1) is None


def result(row, weights="fresh", *, pearson, lost=(), **metrics):
    counts = dict.fromkeys(("folds_that_diverged", "folds_without_a_correlation"), 0)
    return {
        "name": f"sts_regression-sts2016-random-{row}",
        "n": 24,
        "metrics": {"pearson": pearson, "pearson_in_sample": 0.95} | metrics,
        "intervals": {},
        "counts": counts
        | dict.fromkeys(lost, 1)
        | {"pairs_held_out_with_a_sentence_that_trains": 3},
        "settings": {
            "row": row,
            "label": TABLE_2[row].label,
            "folds": 2,
            "folds_by": "random",
            "weights_between_folds": weights,
            "epochs": 5,
        },
        "items": [
            {"pairs_held_out": 12, "out_of_sample": {"pearson": value}} for value in (0.1, 0.9)
        ],
        "data": {"tests": {"sts2017_track5": {"pairs": 7, "pairs_with_a_sentence_that_trains": 1}}},
        "seconds": 1.0,
    }


def cells(made, label):
    lines = [line.split("|")[1:-1] for line in made.splitlines() if line.startswith(f"| {label}")]
    return [[cell.strip() for cell in line[1:]] for line in lines]


def test_a_row_that_diverged_hides_nothing_of_the_others():
    rows = [
        result("lstm1_lstm1", pearson=None, lost=["folds_that_diverged"]),
        result("lstm1_perceptron", pearson=0.5, pearson_test=0.25, mse=1.0),
        result("sif_perceptron", pearson=None, lost=["folds_without_a_correlation"]),
    ]
    made = table.markdown(rows)
    ((*figures, _),) = cells(made, "1 LSTM and Perceptron")
    assert figures == ["0.5000", "0.9500", "1.0000", "-", "0.2500", "0.4301", "0.5445"]
    assert "1 LSTM and 1 LSTM (1 of 2 folds diverged)" in made
    assert "SIF and Perceptron (1 of 2 folds score all pairs alike)" in made
    assert "3 of the 24 pairs held out" in made
    assert table.with_both_readings(rows) == []


def test_which_reading_is_nearer_by_hand(tmp_path):
    printed = {"lstm1_perceptron": 0.4301, "lstm1_lstm1": 0.4163, "sif_perceptron": 0.2214}
    results = []
    for row, fresh, carried in zip(printed, (0.1, 0.2, 0.3), (0.5, 0.4, 0.3), strict=True):
        results += [result(row, pearson=fresh), result(row, "carried", pearson=carried)]
    made = table.markdown(results)
    *_, (paper, *figures) = cells(made, "1 LSTM and Perceptron")
    assert [paper, *figures] == [
        *("0.4301", "0.1000", "0.5000", "0.1000", "0.9000", "0.5445", "0.9500", "0.9500"),
    ]
    (fresh, carried), _ = cells(made, "mean absolute error")
    # Means of 0.3301, 0.2163, 0.0786 and of 0.0699, 0.0163, 0.0786; ranks in reverse, and the same.
    assert (fresh.split()[0], carried.split()[0]) == ("0.208", "0.055")
    ((fresh, carried),) = cells(made, "rank correlation")
    assert (fresh.split()[0], carried.split()[0]) == ("-1.000", "1.000")
    ((fresh, carried),) = cells(made, "mean absolute error of r in sample")
    # The paper loses 0.1144, 0.5739, 0.6581; fresh weights 0.85, 0.75, 0.65, carried 0.45 to 0.65.
    assert (fresh.split()[0], carried.split()[0]) == ("0.307", "0.123")
    assert table.with_both_readings(results) == ["random"]
    pictures = [tmp_path / name for name in ("a.svg", "b.svg")]
    for picture in pictures:
        table.draw(results, "random", picture)
    assert all(TABLE_2[row].label in pictures[0].read_text() for row in printed)
    assert pictures[0].read_bytes() == pictures[1].read_bytes()
    results[0]["metrics"]["pearson"] = None
    assert "2 rows have all figures" in table.markdown(results)

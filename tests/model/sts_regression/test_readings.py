"""Which reading of the paper's table lies nearer to it."""

import pytest

from model.sts_regression.results import readings


def result(label, weights, pearson, paper, folds=(0.1, 0.9)):
    return {
        "settings": {
            "label": label,
            "folds_by": "random",
            "weights_between_folds": weights,
            "epochs": 5,
        },
        "metrics": {"pearson": pearson, "pearson_in_sample": 0.95},
        "baselines": {"paper": {"pearson": paper, "pearson_in_sample": 0.99}},
        "items": [{"out_of_sample": {"pearson": value}} for value in folds],
    }


def both(label, *, paper, fresh, carried):
    return [result(label, "fresh", fresh, paper), result(label, "carried", carried, paper)]


def test_errors_and_ranks_by_hand():
    results = [
        *both("a", paper=0.8, fresh=0.1, carried=0.7),
        *both("b", paper=0.6, fresh=0.2, carried=0.6),
        *both("c", paper=0.4, fresh=0.3, carried=0.5),
    ]
    made = readings.markdown(results, "random")
    lines = [line.split("|")[1:-1] for line in made.splitlines() if line.startswith("|")]
    assert [cell.strip() for cell in lines[2]] == [
        *("a", "0.8000", "0.1000", "0.7000", "0.1000", "0.9000", "0.9900", "0.9500", "0.9500"),
    ]
    # Mean of 0.7, 0.4, 0.1 and of 0.1, 0, 0.1; ranks in reverse, and the same.
    error, rank, lost = lines[-3:]
    assert [cell.split()[0] for cell in error[1:]] == ["0.400", "0.067"]
    assert [cell.split()[0] for cell in rank[1:]] == ["-1.000", "1.000"]
    # The paper loses 0.19, 0.39 and 0.59, fresh weights 0.85, 0.75 and 0.65, carried ones 0.25,
    # 0.35 and 0.45.
    assert [cell.split()[0] for cell in lost[1:]] == ["0.360", "0.080"]


def test_rows_without_a_figure_are_shown_but_not_tested():
    results = both("a", paper=0.8, fresh=None, carried=0.7)
    made = readings.markdown(results, "random")
    assert "0 rows have all figures" in made
    assert "| -" in made
    assert readings.markdown(results, "sentences") == ""
    assert readings.markdown(results[:1], "random") == ""


@pytest.mark.parametrize("missing", ["fresh", "carried"])
def test_a_row_needs_both_readings(missing):
    results = [
        one
        for one in both("a", paper=0.8, fresh=0.2, carried=0.7)
        if one["settings"]["weights_between_folds"] != missing
    ]
    assert readings.markdown(results, "random") == ""

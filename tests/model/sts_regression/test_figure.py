"""The picture of r by fold: what it shows, and the same bytes each time."""

import re

from model.sts_regression.results import figure
from tests.model.sts_regression.test_readings import both


def test_every_row_of_both_readings_has_a_picture_with_the_papers_line():
    rows = [
        *both("2 LSTM Stack", paper=0.8, fresh=0.1, carried=0.7),
        *both("SIF", paper=0.6, fresh=0.2, carried=0.6),
        *both("of no paper", paper=None, fresh=0.2, carried=None),
        both("one reading only", paper=0.6, fresh=0.2, carried=0.6)[0],
    ]
    drawn = figure.svg(rows, "random")
    texts = re.findall(r">([^<>]*\w[^<>]*)</text>", drawn.decode())
    for shown in (
        "2 LSTM Stack",
        "SIF",
        "of no paper",
        "fresh weights",
        "carried weights",
        "printed",
    ):
        assert shown in texts
    assert "one reading only" not in texts
    assert figure.svg(rows, "random") == drawn


def test_without_both_readings_there_is_no_picture():
    fresh, carried = both("a", paper=0.8, fresh=0.1, carried=0.7)
    assert figure.svg([fresh], "random") is None
    assert figure.svg([fresh, carried], "sentences") is None

"""A metric that is declared once is computed, resampled, stored, read and shown."""

import numpy as np
import pytest

from evaluation.analysis import mistakes
from evaluation.metrics import declared
from evaluation.metrics.declared import OfRanks
from evaluation.report import tables
from evaluation.report.scores import long_table
from evaluation.results import measure, store
from tests.evaluation.report.results_of import ranking, rows_of, run


@pytest.mark.parametrize(
    ("name", "label"),
    [("p_at_3", "P@3"), ("pearson", "Pearson"), ("mean_error", "mean error"), ("p_at_0", "p at 0")],
)
def test_metrics_have_labels(name, label):
    assert declared.label(name) == label


def test_precision_is_how_often_the_true_response_is_among_the_first():
    ranks = np.array([1, 2, 3, 4, 10, 11])
    metrics = declared.of_response_ranking((10, 1, 3))
    assert [(name, of.value(ranks).mean()) for name, of in metrics.items()] == [
        *(("p_at_1", 1 / 6), ("p_at_3", 3 / 6), ("p_at_10", 5 / 6)),
    ]


def test_one_entry_declares_a_metric_of_response_ranking(monkeypatch, tmp_path, fake_encoder):
    """It is computed, stored, resampled, read, labelled and shown."""
    monkeypatch.setitem(declared.OF_RANKS, "mrr", OfRanks("MRR", lambda ranks: 1 / ranks))
    found = measure.measured(ranking(1, 2, 1, 4), list(declared.of_response_ranking([1])))
    # By hand: (1 + 1/2 + 1 + 1/4) / 4.
    assert found.metrics == {"p_at_1": 0.5, "mrr": 0.6875}
    # Of the blocks {1, 1/2} and {1, 1/4}.
    found = measure.with_intervals(found, seed=0)
    assert found.intervals["mrr"] == pytest.approx([0.625, 0.75])
    found = store.read(store.write(found, tmp_path))
    (table,) = tables.specified(long_table([run(found)]))
    assert rows_of(table)["", "this module"] == {"P@1": "50.0", "MRR": "68.8"}
    assert "mrr" in mistakes.declared.of_response_ranking(mistakes.AT)

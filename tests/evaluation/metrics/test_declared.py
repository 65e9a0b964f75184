"""Names of metrics."""

import pytest

from evaluation.metrics import declared


@pytest.mark.parametrize(
    ("name", "label"),
    [("p_at_3", "P@3"), ("pearson", "Pearson"), ("mean_error", "mean error"), ("p_at_0", "p at 0")],
)
def test_metrics_have_labels(name, label):
    assert declared.label(name) == label

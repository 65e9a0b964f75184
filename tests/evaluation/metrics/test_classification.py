import numpy as np
import pytest

from evaluation.metrics import classification


def labelled(predicted, relevant):
    return classification.from_counts(classification.label_counts(predicted, relevant))


def test_classification_by_hand():
    predicted = np.array([True, True, False, False, True])
    relevant = np.array([True, False, True, False, True])
    assert labelled(predicted, relevant) == pytest.approx(
        {"precision": 2 / 3, "recall": 2 / 3, "f1": 2 / 3, "accuracy": 3 / 5}
    )
    nothing = labelled(np.zeros(3, bool), np.zeros(3, bool))
    assert nothing == {"precision": 0.0, "recall": 0.0, "f1": 0.0, "accuracy": 1.0}

import numpy as np
import pytest

from evaluation.metrics import classification


def test_accuracy_by_hand():
    assert classification.accuracy([0, 2, 1], [0, 1, 1]) == pytest.approx(2 / 3)
    with pytest.raises(ValueError, match="2 predicted labels for 3 gold labels"):
        classification.accuracy([0, 1], [0, 1, 1])
    with pytest.raises(ValueError, match="0 predicted labels for 0 gold labels"):
        classification.accuracy([], [])


def test_classification_by_hand():
    predicted = np.array([True, True, False, False, True])
    relevant = np.array([True, False, True, False, True])
    assert classification.classification(predicted, relevant) == pytest.approx(
        {"precision": 2 / 3, "recall": 2 / 3, "f1": 2 / 3, "accuracy": 3 / 5}
    )
    nothing = classification.classification(np.zeros(3, bool), np.zeros(3, bool))
    assert nothing == {"precision": 0.0, "recall": 0.0, "f1": 0.0, "accuracy": 1.0}


def test_classification_of_resampled_queries():
    predicted = np.array([True, True, False, True, False])
    relevant = np.array([True, False, True, True, False])
    counts = np.zeros((3, classification.COUNTS), dtype=int)
    np.add.at(counts, [0, 0, 0, 1, 2], classification.label_counts(predicted, relevant))
    found = classification.from_counts(counts[np.array([[0, 1, 2], [0, 0, 1], [2, 2, 2]])])
    drawn = np.array([0, 1, 2, 0, 1, 2, 3])
    for row, expected in (
        (0, classification.classification(predicted, relevant)),
        (1, classification.classification(predicted[drawn], relevant[drawn])),
        (2, {"precision": 0.0, "recall": 0.0, "f1": 0.0, "accuracy": 1.0}),
    ):
        assert {name: values[row] for name, values in found.items()} == pytest.approx(expected)

import numpy as np
import pytest

from evaluation.metrics import classification


def test_of_equal_f1_the_highest_threshold_is_taken():
    scores, relevant = np.array([0.9, 0.7, 0.5, 0.3]), np.array([True, False, False, True])
    # From 0.9 on: P 1, R 1/2; from 0.3 on: P 1/2, R 1.
    assert classification.best_threshold(scores, relevant) == pytest.approx(0.8)


def test_without_a_yes_ratios_are_0():
    counts = classification.label_counts(np.zeros(3, bool), np.zeros(3, bool))
    nothing = classification.from_counts(counts)
    assert nothing == {"precision": 0.0, "recall": 0.0, "f1": 0.0, "accuracy": 1.0}

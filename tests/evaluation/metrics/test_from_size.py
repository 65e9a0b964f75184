import pytest

from evaluation.metrics import from_size


def test_fishers_interval_by_hand():
    # artanh(0.5) = 0.549306; 1.959964 / sqrt(103 - 3) = 0.1959964.
    # tanh(0.353310) = 0.339306, tanh(0.745302) = 0.632341.
    assert from_size.of_correlation(0.5, 103) == pytest.approx([0.339306, 0.632341], abs=1e-5)


def test_wilsons_interval_by_hand():
    # z^2 = 3.8415: (0.5 + z^2/200 ± z sqrt(0.25/100 + z^2/40000)) / (1 + z^2/100).
    assert from_size.of_proportion(0.5, 100) == pytest.approx([0.403832, 0.596168], abs=1e-5)

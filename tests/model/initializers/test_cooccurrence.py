"""Word vectors from co-occurrence, by hand."""

import numpy as np
import pytest

from model.initializers import cooccurrence

SIX = 6  # often enough


def texts(*rows, times=SIX):
    return np.array([rows] * times).reshape(-1, len(rows[0]))


def test_neighbors_count_one_by_their_distance_within_a_text():
    # Word 1 before 2 before 3, then a text of 2 alone.
    near, counts = cooccurrence._counted([texts([1, 2, 3], times=1), texts([2, 0, 0], times=1)], 4)
    assert near.toarray().tolist() == [[0, 0, 0, 0], [0, 0, 1, 0.5], [0, 1, 0, 1], [0, 0.5, 1, 0]]
    assert counts.tolist() == [0, 1, 2, 1]
    row = list(range(1, cooccurrence.WINDOW + 3))
    near, _ = cooccurrence._counted([texts(row, times=1)], len(row) + 1)
    assert near[1, cooccurrence.WINDOW + 1] == pytest.approx(1 / cooccurrence.WINDOW)
    assert near[1, cooccurrence.WINDOW + 2] == 0


def test_information_is_above_what_frequency_alone_would_give():
    near, _ = cooccurrence._counted([texts([1, 2], times=3), texts([1, 3], times=1)], 4)
    found = cooccurrence._information(near).toarray()
    # By hand: row sums 4, 3, 1; contexts by their powers of 0.75.
    contexts = np.array([4, 3, 1]) ** 0.75
    contexts /= contexts.sum()
    assert found[1, 2] == pytest.approx(np.log(3 / (4 * contexts[1])), rel=1e-5)
    assert found[3, 1] == pytest.approx(np.log(1 / (1 * contexts[0])), rel=1e-5)
    assert found[2, 3] == 0


def test_words_among_the_same_words_are_alike_and_others_are_not():
    # 1 and 2 stand beside 5 and 6, 3 and 4 beside 7 and 8.
    rows = [[a, b] for a in (1, 2) for b in (5, 6)] + [[a, b] for a in (3, 4) for b in (7, 8)]
    found = cooccurrence.vectors([texts(*rows)], ids=12, dim=4, seed=0)
    assert found.shape == (12, 4)
    assert found.dtype == np.float32
    cosines = found @ found.T
    assert cosines[1, 2] == pytest.approx(1, abs=1e-5)
    assert cosines[3, 4] == pytest.approx(1, abs=1e-5)
    assert cosines[1, 3] == pytest.approx(0, abs=1e-5)
    assert np.linalg.norm(found[1:9], axis=1) == pytest.approx(np.ones(8), rel=1e-5)


def test_the_largest_parts_are_those_of_an_exact_factorization():
    random = np.random.default_rng(1)
    tokens = random.zipf(1.4, size=[3000, 8]) % 60 + 1
    near, _ = cooccurrence._counted([tokens], 61)
    matrix = cooccurrence._information(near)
    found = cooccurrence._factored(matrix, 5, seed=0)
    left, values, _ = np.linalg.svd(matrix.toarray())
    exact = left[:, :5] * values[:5] ** 0.5
    np.testing.assert_allclose(found @ found.T, exact @ exact.T, atol=1e-4)


def test_rare_words_padding_and_what_never_stands_have_no_vector():
    seldom = texts([9, 1], times=cooccurrence._MIN_COUNT - 1)
    found = cooccurrence.vectors([texts([1, 2, 0]), seldom], ids=12, dim=3, seed=0)
    assert np.flatnonzero(found.any(axis=1)).tolist() == [1, 2]
    for few in ([], [texts([1, 2], times=1)], [texts([1, 0, 0])]):
        assert not cooccurrence.vectors(few, ids=5, dim=3, seed=0).any()


def test_many_batches_count_as_one(monkeypatch):
    monkeypatch.setattr(cooccurrence, "_AT_ONCE", 1)  # so that sums are merged
    batch = texts([1, 2, 3], [2, 3, 4])
    many, counts = cooccurrence._counted([batch] * 5, 5)
    once, all_counts = cooccurrence._counted([np.concatenate([batch] * 5)], 5)
    np.testing.assert_allclose(many.toarray(), once.toarray(), rtol=1e-6)
    assert counts.tolist() == all_counts.tolist()

import numpy as np
import pytest

from model.errors import InputError
from model.sts_regression.choices import WAYS
from model.sts_regression.data import folds

PAIRS = [("a", "b"), ("c", "d"), ("b", "e"), ("f", "g"), ("h", "e"), ("i", "j"), ("k", "l")]
"""The first, third and fifth hang together, through b and e."""


@pytest.mark.parametrize("way", WAYS)
def test_each_pair_is_held_out_once_and_trains_otherwise(way):
    splits = folds.make(PAIRS, folds=3, way=way, seed=5)
    held_out = np.concatenate([split.held_out for split in splits])
    assert sorted(held_out) == list(range(len(PAIRS)))
    for split in splits:
        assert sorted([*split.training, *split.held_out]) == list(range(len(PAIRS)))


def test_grouped_folds_share_no_sentence_and_are_about_as_large():
    splits = folds.make(PAIRS, folds=3, way="sentences", seed=5)
    assert [folds.shared(PAIRS, split) for split in splits] == [0, 0, 0]
    assert sorted(len(split.held_out) for split in splits) == [2, 2, 3]


def test_shared_sentences_are_counted():
    split = folds.Split(np.array([0, 1, 3]), np.array([2, 4, 5, 6]))
    assert folds.shared(PAIRS, split) == 1  # the third, through b; e is in none that trains


def test_random_folds_differ_by_seed_and_are_the_same_again():
    def held_out(seed):
        return [tuple(s.held_out) for s in folds.make(PAIRS, folds=2, way="random", seed=seed)]

    assert held_out(1) == held_out(1)
    assert len({tuple(held_out(seed)) for seed in range(5)}) > 1


@pytest.mark.parametrize(
    ("count", "way", "message"),
    [
        (8, "random", "folds: 8; accepted: 2 to 7, as there are 7 pairs"),
        (1, "random", "folds: 1; accepted: 2 to 7"),
        (6, "sentences", "accepted: 2 to 5, as there are 5 groups"),
    ],
)
def test_folds_that_cannot_be_are_refused(count, way, message):
    with pytest.raises(InputError, match=message):
        folds.make(PAIRS, folds=count, way=way, seed=0)

"""Pairs, words, vectors and folds."""

import gzip

import numpy as np
import pytest
import tensorflow as tf

from common.errors import InputError
from model.sts_regression import folds
from model.sts_regression.options import FOLDS_BY
from model.sts_regression.words import UNKNOWN, load_vectors, split

PAIRS = np.array([(0, 1), (2, 3), (1, 4), (5, 6), (7, 4), (8, 9), (10, 11)])
"""The first, third and fifth hang together, through sentences 1 and 4."""


@pytest.mark.parametrize("folds_by", FOLDS_BY)
def test_each_pair_is_held_out_once_and_trains_otherwise(folds_by):
    splits = folds.make(PAIRS, folds=3, folds_by=folds_by, seed=5)
    assert sorted(np.concatenate([split.held_out for split in splits])) == list(range(7))
    for one in splits:
        assert sorted([*one.training, *one.held_out]) == list(range(7))
    assert sorted(len(one.held_out) for one in splits) == [2, 2, 3]
    assert any(one.shared for one in splits) == (folds_by == "random")


def test_shared_sentences_are_counted():
    # The third pair, through sentence 1; sentence 4 is in none that trains.
    assert folds.shared(PAIRS[[0, 1, 3]], PAIRS[[2, 4, 5, 6]]) == 1


@pytest.mark.parametrize(("count", "folds_by"), [(8, "random"), (6, "sentences")])
def test_more_folds_than_groups_are_refused(count, folds_by):
    with pytest.raises(InputError, match=f"--folds: {count}"):
        folds.make(PAIRS, folds=count, folds_by=folds_by, seed=0)


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        ("A man's dog.", "A man 's dog ."),
        ("You don't, do you?", "You do n't , do you ?"),
        ("It’s 3.5% of 1,000", "It 's 3.5 % of 1,000"),
        ("drive-ins (in the U.S.)", "drive - ins ( in the U.S. )"),
        ("at 5 p.m. or 'sixteen'.", "at 5 p.m. or ' sixteen ' ."),
        ("'quoted words'", "' quoted words '"),
        ("«Où est-ce?»", "« Où est - ce ? »"),
        ("wait...", "wait ..."),
        ("  ", ""),
    ],
)
def test_words_are_split_as_glove_has_them(sentence, words):
    (found,) = split(tf.constant([sentence])).to_list()
    assert [word.decode() for word in found] == words.split()


def test_words_are_tried_as_they_stand_then_in_lower_case(tmp_path):
    path = tmp_path / "vectors.txt.gz"
    path.write_bytes(gzip.compress(b"may 1 1\nMay 2 2\nother 3 3\nlast 4 4\n"))
    found = load_vectors(path, {"May", "MAY", "june"})
    assert found.ids([["May", "MAY"], ["june"]]) == [[3, 2], [UNKNOWN]]
    np.testing.assert_array_equal(found.table, [[0, 0], [0, 0], [1, 1], [2, 2]])


@pytest.mark.parametrize("text", ["cat 1 2\ncat 1 2\n", "the 1 2\n", "cat 1 nan\n"])
def test_vectors_that_cannot_be_used_are_refused(tmp_path, text):
    (tmp_path / "vectors.txt").write_text(text)
    with pytest.raises(InputError, match=r"vectors\.txt"):
        load_vectors(tmp_path / "vectors.txt", {"cat"})


def test_glove_840b_is_read(real_data):
    path = real_data / "glove" / "glove.840B.300d.head596.txt.gz"
    found = load_vectors(path, {"The", ",", "zyzzyva"})
    assert set(found.words) == {"The", "the", ","}
    assert found.table.shape[1] == 300

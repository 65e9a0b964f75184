"""Pairs, words, vectors and folds."""

import gzip

import numpy as np
import pytest
import tensorflow as tf

from common.errors import InputError
from model.sts_regression.data import folds, vectors
from model.sts_regression.data.words import split_all
from model.sts_regression.settings import FOLDS_BY

PAIRS = [("a", "b"), ("c", "d"), ("b", "e"), ("f", "g"), ("h", "e"), ("i", "j"), ("k", "l")]
"""The first, third and fifth hang together, through b and e."""


@pytest.mark.parametrize("folds_by", FOLDS_BY)
def test_each_pair_is_held_out_once_and_trains_otherwise(folds_by):
    splits = folds.make(PAIRS, folds=3, folds_by=folds_by, seed=5)
    assert sorted(np.concatenate([split.held_out for split in splits])) == list(range(7))
    for split in splits:
        assert sorted([*split.training, *split.held_out]) == list(range(7))
    assert sorted(len(split.held_out) for split in splits) == [2, 2, 3]
    shared = [folds.shared(*([PAIRS[i] for i in indices] for indices in s)) for s in splits]
    assert any(shared) == (folds_by == "random")


def test_shared_sentences_are_counted():
    # The third, through b; e is in none that trains.
    training, held_out = ([PAIRS[i] for i in indices] for indices in ((0, 1, 3), (2, 4, 5, 6)))
    assert folds.shared(training, held_out) == 1


def test_random_folds_differ_by_seed_and_are_the_same_again():
    def held_out(seed):
        splits = folds.make(PAIRS, folds=2, folds_by="random", seed=seed)
        return tuple(tuple(split.held_out) for split in splits)

    assert held_out(1) == held_out(1)
    assert len({held_out(seed) for seed in range(5)}) > 1


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
    assert split_all([sentence]) == [words.split()]


def test_words_are_tried_as_they_stand_then_in_lower_case_and_counted(tmp_path):
    path = tmp_path / "vectors.txt.gz"
    path.write_bytes(gzip.compress(b"may 1 1\nMay 2 2\nother 3 3\nlast 4 4\n"))
    found = vectors.load(path, {"May", "MAY", "june"})
    assert found.ids(["May", "MAY", "june", "june"]) == [3, 2, vectors.UNKNOWN, vectors.UNKNOWN]
    np.testing.assert_array_equal(found.table, [[0, 0], [0, 0], [1, 1], [2, 2]])
    assert found.counts() == {
        "words": 4,
        "words_without_vector": 2,
        "different_words_without_vector": 1,
    }
    assert vectors.load(path, {"last"}, first=1).words == ["may", "last"]


@pytest.mark.parametrize(
    ("text", "dim"), [("cat 1 2\ncat 1 2\n", None), ("the 1 2\n", None), ("cat 1 2\n", 300)]
)
def test_vectors_that_cannot_be_used_are_refused(tmp_path, text, dim):
    (tmp_path / "vectors.txt").write_text(text)
    with pytest.raises(InputError, match=r"vectors\.txt"):
        vectors.load(tmp_path / "vectors.txt", {"cat"}, dim=dim)


class Module(tf.Module):
    """As a hub module's: a word's length and first byte; words of one letter have none."""

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
    def word_vectors(self, inputs):
        lengths = tf.strings.length(inputs)
        first = tf.io.decode_raw(tf.strings.substr(inputs, 0, 1), tf.uint8)[:, 0]
        rows = tf.stack([lengths, tf.cast(first, tf.int32)], axis=1)
        return {"outputs": tf.cast(tf.where(lengths[:, None] > 1, rows, 0), tf.float32)}


def test_a_module_gives_its_word_vectors(embedder, tmp_path):
    made = Module()
    tf.saved_model.save(made, str(tmp_path), signatures={"word_vectors": made.word_vectors})
    found = vectors.load(tmp_path, {"cat", "a"})
    assert found.words == ["cat"]
    np.testing.assert_allclose(found.table[2], [3, ord("c")])
    with pytest.raises(InputError, match="300"):
        vectors.load(tmp_path, {"cat"}, dim=300)
    with pytest.raises(InputError, match="word_vectors"):
        vectors.load(embedder, {"cat"})


def test_glove_840b_is_read(real_data):
    path = real_data / "glove" / "glove.840B.300d.head596.txt.gz"
    found = vectors.load(path, {"The", ",", "zyzzyva"}, first=1000)
    assert (len(found.words), found.dim) == (596, 300)

"""White space and what is not seen divides words and is none, in both ways to split a text."""

import sys
import unicodedata

import pytest
import tensorflow as tf

from model.sts_regression import words
from model.text import preprocessing

SPACES = [each for each in map(chr, range(sys.maxunicode + 1)) if each.isspace()]
UNSEEN = [
    each
    for each in map(chr, range(sys.maxunicode + 1))
    if unicodedata.category(each) in ("Cc", "Cf", "Co", "Zl", "Zp", "Zs")
]
SPLITTERS = {"models": preprocessing.tokenize, "regressors": words.split}


@pytest.mark.parametrize("split", SPLITTERS.values(), ids=SPLITTERS)
def test_a_word_ends_at_every_white_space_of_unicode(split):
    assert len(SPACES) > 25
    found = split(tf.constant([f"a dog{space}barks{space}." for space in SPACES])).to_list()
    assert found == [[b"a", b"dog", b"barks", b"."]] * len(SPACES)
    assert {*SPACES, "\u200b", "\u2060", "\ufeff"} <= {*UNSEEN}
    found = split(tf.constant([f"{each} {each}" for each in UNSEEN])).to_list()
    assert [each for each, of_each in zip(UNSEEN, found, strict=True) if of_each] == []


def test_in_regressors_what_has_no_width_divides_words():
    found = words.split(tf.constant([f"a dog{each}barks" for each in UNSEEN])).to_list()
    assert found == [[b"a", b"dog", b"barks"]] * len(UNSEEN)

"""Every white space of Unicode, and what has no width, divides words and is none."""

import tensorflow as tf

from model.sts_regression.words import split

SPACES = [each for each in map(chr, range(0x110000)) if each.isspace()]
SPACES += ["\u200b", "\u2060", "\ufeff"]


def test_words_end_at_each_and_a_text_of_one_is_empty():
    assert len(SPACES) > 25
    found = split(tf.constant([f"a dog{space}barks" for space in SPACES])).to_list()
    assert found == [[b"a", b"dog", b"barks"]] * len(SPACES)
    assert split(tf.constant([f"{space} {space}" for space in SPACES])).to_list() == [[]] * len(
        SPACES
    )

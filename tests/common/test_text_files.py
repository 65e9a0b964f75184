"""Texts without a visible character are empty."""

import sys
import unicodedata

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from common.text_files import VISIBLE, is_visible

CHARACTERS = [
    each for each in map(chr, range(sys.maxunicode + 1)) if unicodedata.category(each) != "Cs"
]


def test_python_and_arrow_see_the_same_characters():
    seen = pc.match_substring_regex(pa.array(CHARACTERS), VISIBLE).to_pylist()
    differ = [
        one
        for one, by_arrow in zip(CHARACTERS, seen, strict=True)
        if is_visible(one) != by_arrow
        and unicodedata.category(one) != "Cn"  # a later Unicode may have made it a control
    ]
    assert sum(seen) > 100_000
    assert differ == []


@pytest.mark.parametrize("text", ["", " \n", "\u200b\u2060\ufeff", "\u3164\u115f", "\ud800"])
def test_a_text_without_a_visible_character_is_empty(text):
    assert not is_visible(text)
    assert is_visible(f"{text}.")


def test_characters_of_a_later_unicode_are_visible():
    assert is_visible("\U0001fae8")  # an emoji of Unicode 15

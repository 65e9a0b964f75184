"""Texts without a visible character are empty; files that are cut; files of word vectors."""

import sys
import unicodedata

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from common.encoders import word_vectors
from common.errors import InputError
from common.text_files import VISIBLE, is_visible, normalize, parse_lines

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


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("A man is  playing.", "a man is playing"),
        ("“A man, is\tplaying!”", "a man is playing"),
        ("ＦＵＬＬ width & ①", "full width 1"),
        ("STRASSE straße", "strasse strasse"),
        ("snake_case", "snake case"),
        ("don’t", "don t"),
        ("cafe\u0301", "caf\u00e9"),
        ("...", ""),
    ],
)
def test_normalization_keeps_words_only(text, words):
    assert normalize(text) == words


def test_a_cut_file_is_named(write_text):
    path = write_text("cut.txt.gz", "one line\nanother line\n" * 9)
    path.write_bytes(path.read_bytes()[:-6])
    with pytest.raises(InputError, match=str(path)):
        list(parse_lines(path, str))


GOOD = "the 1 2\ncaf\u00e9 3 -4e-1\n"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("vectors.txt", GOOD),
        ("vectors.txt.gz", GOOD),
        ("vectors.vec", "2 2\n" + GOOD.replace("\n", " \r\n")),
    ],
)
def test_words_and_numbers(write_text, name, content):
    found = {entry.word: entry.vector() for entry in word_vectors.read(write_text(name, content))}
    assert list(found) == ["the", "caf\u00e9"]
    np.testing.assert_array_equal(list(found.values()), np.array([[1, 2], [3, -0.4]], np.float32))


def test_a_word_may_contain_spaces(write_text):
    for content in ("the 1 2\n. . . 1 2\n", "2 2\n. . . 1 2\nthe 1 2\n"):
        found = word_vectors.read(write_text("vectors.txt", content))
        assert {entry.word for entry in found} == {"the", ". . ."}


def test_of_a_word_that_comes_again_the_first_counts(write_text):
    path = write_text("vectors.txt", GOOD + "the 5 6\nThe 7 8\n")
    found = word_vectors.of_words(path, ["The", "dog"])
    assert {word: vector.tolist() for word, vector in found.items()} == {
        "the": [1, 2],
        "The": [7, 8],
    }


@pytest.mark.parametrize(
    ("content", "place"),
    [
        (GOOD + "dog 1\n", ":3: "),
        (GOOD + "dog 1 2 3\n", ":3: "),
        (GOOD + "dog 1 nan\n", ":3: "),
        (GOOD + "dog 1 x\n", ":3: "),
        (GOOD + "dog 1 1e99\n", ":3: "),
        (b"the 1 2\nca\xff 1 2\n", ":2: "),
        ("3 2\n" + GOOD, ":3: "),
        ("2 3\n" + GOOD, ":2: "),
    ],
)
def test_a_wrong_line_is_named(write_text, content, place):
    path = write_text("vectors.txt", content)
    with pytest.raises(InputError) as raised:
        [entry.vector() for entry in word_vectors.read(path)]
    assert str(raised.value).startswith(f"{path}{place}")

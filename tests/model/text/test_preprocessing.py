"""What becomes a token, what becomes an id."""

import sys
import unicodedata

import pytest
import tensorflow as tf

from model.sts_regression import words
from model.text.preprocessing import BIGRAMS, PADDING, WORDS, TextToIds, tokenize


def tokens(text):
    (row,) = tokenize(tf.constant([text])).to_list()
    return [token.decode() for token in row]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("How old ARE you?", ["how", "old", "are", "you", "?"]),
        ("don't", ["don", "'t"]),
        ("the man’s hat", ["the", "man", "'s", "hat"]),
        ("don´t", ["don", "'t"]),
        ("n''n '", ["n", "'", "'n", "'"]),
        ("की'स", ["की", "'स"]),  # behind a mark, which is not a letter
        ("well... (yes)", ["well", ".", ".", ".", "(", "yes", ")"]),
        ("ﬁne Ⅳ ℃", ["fine", "iv", "°", "c"]),  # NFKC
        ("STRASSE Straße", ["strasse", "strasse"]),  # case folding
        ("cafe\u0301", ["café"]),  # composed
        ("привет 你好", ["привет", "你好"]),
        ("a\x00b\tc\u200bd", ["a", "b", "cd"]),
        ("🎂", ["🎂"]),
        (b"\xff\xfe ok", ["�", "�", "ok"]),
        ("", []),
    ],
)
def test_tokens(text, expected):
    assert tokens(text) == expected


@pytest.fixture(scope="module")
def text_to_ids():
    return TextToIds(max_tokens=4, word_buckets=1000, bigram_buckets=5000)


def ids_of(text_to_ids, *sentences):
    return {name: ids.numpy().tolist() for name, ids in text_to_ids(tf.constant(sentences)).items()}


def test_a_word_and_the_end_mark_have_one_id_wherever_they_stand(text_to_ids):
    found = ids_of(text_to_ids, "red fish", "Fish red", "fish")[WORDS]
    red, fish, end = found[0]
    assert found == [[red, fish, end], [fish, red, end], [fish, end, PADDING]]
    assert len({red, fish, end, PADDING}) == 4
    for ids in ids_of(text_to_ids, "", "  ").values():
        assert ids[0] == ids[1] != [PADDING]


def test_bigrams_know_their_order_and_the_sentence_ends(text_to_ids):
    first, second, third = ids_of(text_to_ids, "red fish", "fish red", "red fish blue")[BIGRAMS]
    assert len({*first[:3], *second[:3]}) == 6
    assert third[:2] == first[:2]  # (begin, red), (red, fish)
    assert third[2] != first[2]  # (fish, blue) and not (fish, end)
    assert first[3] == PADDING


def test_text_is_cut_off_at_exactly_max_tokens(text_to_ids):
    four, five, also = ids_of(text_to_ids, "a b c d", "a b c d e", "a b c d f g h")[WORDS]
    assert four == five == also
    assert len(four) == 5  # and the end mark
    assert text_to_ids(tf.constant([], tf.string))[WORDS].shape[0] == 0
    three, _ = ids_of(text_to_ids, "a b c", "a b c d")[WORDS]
    assert three[:4] != four[:4]


def test_ids_stay_in_their_buckets(text_to_ids):
    ids = ids_of(text_to_ids, *(f"w{n} v{n} u{n}" for n in range(2000)))
    for name, buckets in ((WORDS, 1000), (BIGRAMS, 5000)):
        flat = [value for row in ids[name] for value in row]
        assert min(flat) >= 1
        assert max(flat) < buckets
        assert len(set(flat)) > 0.6 * buckets


def test_bytes_that_are_not_utf_8_change_nothing_of_the_other_sentences():
    # From letters to surrogates' neighbours, the marks of byte order and the last code point.
    sentence = "naïve don’t 你好 \x00 \ud7ff \ue000 \ufeff \ufffe \U0010ffff 🎂"
    alone = tokenize(tf.constant([sentence, ""])).to_list()
    for wrong in (b"\xff", b"\xed\xa0\x80", b"\xc0\x80", b"\xf4\x90\x80\x80", b"a\xe2\x82"):
        beside = tokenize(tf.constant([sentence.encode(), wrong])).to_list()
        assert beside[0] == alone[0]
        assert "\ufffd".encode() in beside[1]


def test_of_a_long_text_only_its_beginning_is_looked_at(text_to_ids):
    looked_at = 4 * 64
    four = ids_of(text_to_ids, "a b c d")
    spread = " \n\t".join("abcd").replace(" ", " " * 1000)
    assert ids_of(text_to_ids, spread + " e" * 1000) == four
    word = "é" * (looked_at - 2)
    assert ids_of(text_to_ids, f"a {word}éé b c d") == ids_of(text_to_ids, f"a {word}")
    # 204 characters are 404 bytes, and not cut off.
    assert (
        ids_of(text_to_ids, f"a {'é' * 200} b", "a c b")[WORDS][0][2:]
        == (ids_of(text_to_ids, "a c b")[WORDS][0][2:])
    )
    # Others in the batch are read as ever, white space of theirs that is not a token included.
    alone, beside = (ids_of(text_to_ids, "c\u200bd  x", *more) for more in ([], ["y" * 1000]))
    assert beside[WORDS][0][:3] == alone[WORDS][0]


SPACES = [each for each in map(chr, range(sys.maxunicode + 1)) if each.isspace()]
UNSEEN = [
    each
    for each in map(chr, range(sys.maxunicode + 1))
    if unicodedata.category(each) in ("Cc", "Cf", "Co", "Zl", "Zp", "Zs")
]
SPLITTERS = {"models": tokenize, "regressors": words.split}


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

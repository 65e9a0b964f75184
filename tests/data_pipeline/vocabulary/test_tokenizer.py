"""The tokens of the pipeline are the tokens of the models."""

import random
import sys
import unicodedata

import pytest
import tensorflow as tf

from data_pipeline.vocabulary.tokenizer import BEGIN, END, tokenize
from model.text import preprocessing as of_the_models

NASTY = [
    "How old ARE you?",
    "don't  a man 's hat, the man’s hat; ´tis rock‘n’roll n''n ''' ' a'",
    "O＇Neill ʼn ŉ `quoted`",
    "ﬁne ﬀ Ⅳ ℃ ½ ² ™ ㌔ ｶﾞ ﷺ",
    "STRASSE Straße ẞ ΌΣΟΣ ός İstanbul ISPARTA ıssız",
    "cafe\u0301 café e\u0301\u0327 \u0301alone ａ\u0301 \u1e9b\u0323 \u0345 ᾳ",
    "हिन्दी's की' தமிழ் ภาษาไทย 한국어 \u1112\u1161\u11ab 你好，世界。 日本語のテキスト",
    "👩‍👩‍👧‍👦 🏳️‍🌈 👍🏽 🇩🇪 1️⃣ 🎂",
    "zero\u200bwidth soft\u00adhyphen a\u2060b \ufeffbom a\u034fb \u115f\u3164 a\u200d'b",
    "a\x00b\tc\x0bd\x0ce\x1cf\x85g\u00a0h\u1680i\u2003j\u2028k\u2029l\u3000m\r\n",
    "\ue000private\U000f0000 \ufffe\uffff \ufffd",
    "x^2+y_1=£5.00 50% #tag @user http://a.b/c?d=e&f=g <s> </s>",
    "שלום עולם! مرحبا ١٢٣ \u202eright to left\u202c",
    "Ǆ ǅ ǆ ſ K Å µ ϐ ς Ꭰ ꭰ",
    "",
    " \n ",
]
INVALID = [
    b"\xff\xfe ok",
    b"cut \xe2\x82",
    b"\xed\xa0\x80 surrogate",
    b"\xc0\xaf\xe0\x80\xaf long forms",
    b"\xf4\x90\x80\x80\xf5 beyond",
    b"don\x80't \xf0\x9f\x8e",
]


def of_models(texts):
    return of_the_models.tokenize(tf.constant(texts)).to_list()


def assert_same(texts):
    for text, expected in zip(texts, of_models(texts), strict=True):
        assert tokenize(text) == expected, ascii(text)


def test_some_tokens():
    assert tokenize("Don’t  STOP, Straße!") == [*(b"don", b"'t", b"stop", b",", b"strasse", b"!")]
    assert tokenize(b"\xff ok") == ["\ufffd".encode(), b"ok"]
    assert tokenize("") == []
    # The first character of Unicode that nobody sees, and the first and last of private use.
    for unseen in ("\0", "\U00100000", "\U0010fffd"):
        assert tokenize(f"a{unseen}b") == [b"a", b"b"]


def test_the_marks_of_a_sentence_are_the_models_and_no_token():
    assert (BEGIN, END) == (of_the_models._BEGIN, of_the_models._END) == (b"<s>", b"</s>")
    assert not {BEGIN, END} & set(tokenize("<s> a </s>"))


@pytest.mark.parametrize("text", NASTY)
def test_strings_that_others_have_failed_on(text):
    assert_same([text])
    assert tokenize(text) == tokenize(text.encode())


def test_bytes_that_are_not_utf_8():
    assert_same(INVALID)
    draw = random.Random(0)
    parts = [b"a", b"\xff", b"\xc2", b"\xe0", b"\xed", b"\xa0", b"\x80", b"\xf0", b"\x9f", b"\xf4"]
    assert_same([b"".join(draw.choices(parts, k=6)) for _ in range(2000)])


def characters():
    codes = (code for code in range(sys.maxunicode + 1) if not 0xD800 <= code <= 0xDFFF)
    return [chr(code) for code in codes]


@pytest.mark.parametrize(
    "template", ["{}", pytest.param("a{}'b{}a\u0301 '{}'x", marks=pytest.mark.slow)]
)
def test_every_character_that_python_knows(template):
    known = [char for char in characters() if unicodedata.category(char) != "Cn"]
    assert len(known) > 280_000
    assert_same([template.replace("{}", char) for char in known])

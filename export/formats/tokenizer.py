"""A tokenizer of whole words, and of the character n-grams of other words, for `tokenizers`.

Character n-grams overlap, and tokens cannot. So the tokenizer first writes after each letter, as
marks, the one before it and that letter, and the end of the word as a letter, $: of "cat" it makes
"c 'c a "c 'a t "a 't $". An n-gram is then a letter behind its marks: `'c a` is " ca", `"c 'a t` is
"cat", `"a 't $` is "at ". Byte-pair encoding merges these, and nothing else.
"""

from collections.abc import Sequence
from itertools import product

from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers

APOSTROPHE = "'"
"""May be the first character of a word."""
WORD_BEGINS = "\u2581"
"""Before each word; a token of its own where a word is split."""
_UNKNOWN = "[UNK]"
# Private use, which no normalized text has:
_TEXT_BEGINS = "\ue000"
_WORD_ENDS = "\ue001"
_FIRST_BEFORE, _FIRST_BEFORE_THAT, _LAST = 0xE100, 0xE200, "\ue2ff"
"""Marks of the letter before and of the letter before that."""

_IGNORABLE = (
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0]"
)
_UNSEEN = r"[\p{Cc}\p{Cf}\p{Co}\p{Zl}\p{Zp}]"
_APOSTROPHES = "[’ʼ`‘]| \u0301"
_OF_WORDS = r"\p{L}\p{M}\p{N}"
_TOKEN = rf"'?[{_OF_WORDS}{_WORD_ENDS}-{_LAST}]+|[^\s]"


def build(letters: str, ngrams: Sequence[str], words: Sequence[str]) -> Tokenizer:
    """The tokenizer of texts; an empty text has no token.

    Args:
      letters: which n-grams have, besides `APOSTROPHE`.
      ngrams: three characters each, a space before the first letter of a word and after the last.
      words: which are a token each.

    Returns:
      A tokenizer whose last ids are those of the n-grams, of the words, and of a token that each
      text begins with.
    """
    before, before_that = (
        {letter: chr(first + number) for number, letter in enumerate(APOSTROPHE + letters)}
        for first in (_FIRST_BEFORE, _FIRST_BEFORE_THAT)
    )
    # Two marks are merged first: behind one mark alone, a letter is the second of a word.
    pairs = list(product(before_that.values(), before.values()))
    of_ngrams = [
        (before_that.get(first, "") + before[middle], _WORD_ENDS if last == " " else last)
        for first, middle, last in map(tuple, ngrams)
    ]
    normalizer = _normalizer(letters, before, before_that)
    parts = [*APOSTROPHE, *letters, *before.values(), *before_that.values(), _WORD_ENDS]
    whole = [WORD_BEGINS + normalizer.normalize_str(word) for word in words]
    vocabulary = [
        _UNKNOWN,
        WORD_BEGINS,
        *parts,
        *map("".join, pairs + of_ngrams),
        *whole,
        WORD_BEGINS + _TEXT_BEGINS,
    ]
    tokenizer = Tokenizer(
        models.BPE(
            vocab={token: number for number, token in enumerate(vocabulary)},
            merges=pairs + of_ngrams,
            unk_token=_UNKNOWN,
            ignore_merges=True,  # a word of the vocabulary is one token
        )
    )
    tokenizer.normalizer = normalizers.Sequence(
        [normalizer, normalizers.Prepend(f"{_TEXT_BEGINS} ")]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(_TOKEN), "removed", invert=True),
            pre_tokenizers.Metaspace(replacement=WORD_BEGINS, prepend_scheme="always", split=False),
        ]
    )
    return tokenizer


def _normalizer(
    letters: str, before: dict[str, str], before_that: dict[str, str]
) -> normalizers.Normalizer:
    """What the module does to texts, then the marks."""
    marks = "".join(before.values())
    return normalizers.Sequence(
        [
            normalizers.Replace(Regex(_IGNORABLE), ""),
            normalizers.NFKC(),
            normalizers.Lowercase(),  # Rust has no case folding
            normalizers.NFKC(),
            normalizers.Replace("ß", "ss"),
            normalizers.Replace("ς", "σ"),
            normalizers.Replace(Regex(_UNSEEN), " "),
            normalizers.Replace(Regex(_APOSTROPHES), APOSTROPHE),
            normalizers.Replace(Regex(rf"[{letters}]\K(?![{_OF_WORDS}])"), _WORD_ENDS),
            # Patterns that begin with the letter are found several times as fast as lookbehinds.
            *(
                normalizers.Replace(Regex(rf"{letter}\K(?=[{letters}{_WORD_ENDS}])"), mark)
                for letter, mark in before.items()
            ),
            *(
                normalizers.Replace(Regex(rf"{before[letter]}.\K(?=[{marks}])"), mark)
                for letter, mark in before_that.items()
            ),
        ]
    )

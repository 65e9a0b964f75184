"""The message rules on columns: which rule drops each message.

A test holds them to the same answer as rules on one message, on any text.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from data_pipeline.execution.columns import bytes_of, offsets_of, values_of
from data_pipeline.sources.rules import SETTINGS, MessageRules

GONE = (
    r"^[*_\\]*[\[({<\x{3010}\x{ff3b}\x{ff08}]+[ \\]*"
    r"((this |your )?(comment|message|content|post|account|reply) )?((has been|was|is) )?"
    r"(deleted|removed|unavailable|[^\])}>]*copyright notice)"
    r"( (by|in response to|on account of|due to|because of|for) ([^\])}>]|\]\([^)]*\))*)?"
    r"[ .\\]*[\])}>\x{3011}\x{ff3d}\x{ff09}]+[*_]*$"
)
"""What Reddit shows for a text that is gone, in any case: "[deleted]", "[ Removed by Reddit ]"."""
_LETTERS = 26
_LOWER_CASE = 0x20  # the bit in which the small letters of ASCII differ from the capitals
_FIRST_BEYOND_ASCII = 0x80
_WORD = 64
_FIRST_LEADING = 0xC0  # UTF-8 begins each character beyond ASCII with a byte from this one on


def masks(rules: MessageRules, texts: Any, authors: Any) -> dict[str, np.ndarray]:
    """Name of each rule that is on, in their order -> whether it drops each message, bool [rows].

    `texts` are Arrow's large_string, stripped, `authors` string, both without nulls: [rows].
    """
    lengths, lower = pc.utf8_length(texts).to_numpy(), pc.utf8_lower(authors)
    holds: dict[str, Callable[[Any], np.ndarray]] = {
        "deleted": lambda _: are_gone(texts),
        "length": lambda most: lengths > most,
        "alphabetic": lambda share: (
            count_letters(texts) <= share.numerator * lengths.astype(np.int64) // share.denominator
        ),
        "prefix": lambda prefixes: _any(pc.starts_with(texts, start) for start in prefixes),
        "bot": lambda parts: _any(pc.match_substring(lower, part) for part in parts),
        "min_characters": lambda least: lengths < least,
    }
    return {name: holds[name](getattr(rules, SETTINGS[name])) for name in rules.names}


def are_gone(texts: Any) -> np.ndarray:
    """Whether each text stands for one that is gone [rows]."""
    return values_of(pc.match_substring_regex(texts, GONE, ignore_case=True))


def dropped_by(masks: Sequence[np.ndarray], *, rows: int) -> Any:
    """The index of the first mask that holds for each row, or null: an int8 array [rows]."""
    first = np.full(rows, -1, np.int8)
    for index in reversed(range(len(masks))):
        first[masks[index]] = index
    return pa.array(first, mask=first < 0)


def _any(masks: Iterable[Any]) -> np.ndarray:
    return np.any([values_of(mask) for mask in masks], axis=0)


def count_letters(texts: Any) -> np.ndarray:
    """How many characters of each text are letters [rows]."""
    offsets = offsets_of(texts)
    data = bytes_of(texts)[offsets[0] : offsets[-1]]
    offsets = offsets - offsets[0]
    # One comparison does both cases: other bytes wrap around to large numbers.
    letters = _counts((data | _LOWER_CASE) - ord("a") < _LETTERS, offsets)
    beyond = np.flatnonzero(data >= _FIRST_BEYOND_ASCII)
    if len(beyond):
        some = data[beyond]
        leading = beyond[some >= _FIRST_LEADING]
        # One by one in Python, but only the characters beyond ASCII.
        is_letter = list(map(str.isalpha, some.tobytes().decode()))
        rows = np.searchsorted(offsets, leading[is_letter], side="right") - 1
        letters += np.bincount(rows, minlength=len(letters))
    return letters


def _counts(bits: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """How many of the booleans between two offsets are true [rows].

    Sixty-four at once: 0.02 microseconds a comment, where numpy.cumsum takes 0.13.
    """
    packed = np.packbits(bits, bitorder="little")
    words = np.zeros(len(bits) // _WORD + 1, np.dtype("<u8"))
    words.view(np.uint8)[: len(packed)] = packed
    before = np.concatenate([[0], np.cumsum(np.bitwise_count(words), dtype=np.int64)])
    place, rest = np.divmod(offsets, _WORD)
    partly = words[place] & ((np.uint64(1) << rest.astype(np.uint64)) - np.uint64(1))
    return np.diff(before[place] + np.bitwise_count(partly))

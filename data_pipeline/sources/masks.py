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


def dropped_by(masks: Sequence[np.ndarray]) -> Any:
    """The index of the first of some masks that holds for each row, or null: int8 [rows]."""
    first = np.select(masks, list(np.arange(len(masks), dtype=np.int8)), np.int8(-1))
    return pa.array(first, mask=first < 0)


def _any(masks: Iterable[Any]) -> np.ndarray:
    return np.any([values_of(mask) for mask in masks], axis=0)


def count_letters(texts: Any) -> np.ndarray:
    """How many characters of each text are letters [rows]."""
    offsets = offsets_of(texts)
    data = bytes_of(texts)[offsets[0] : offsets[-1]]
    offsets = offsets - offsets[0]
    # One comparison does both cases: other bytes wrap around to large numbers. Behind the last
    # byte is one more, at which empty texts may begin.
    are_letters = np.append((data | _LOWER_CASE) - ord("a") < _LETTERS, False)
    beyond = data[data >= _FIRST_BEYOND_ASCII]
    if len(beyond):
        # One by one in Python, but only the characters beyond ASCII.
        are_letters[:-1][data >= _FIRST_LEADING] = [*map(str.isalpha, beyond.tobytes().decode())]
    counts = np.add.reduceat(are_letters, offsets[:-1], dtype=np.int64)
    return np.where(np.diff(offsets), counts, 0)  # of an empty text it gives the next byte

"""Lines with which many texts of two lines or more begin or end, such as signatures, and markup.

A model learns these instead of what was said. They are measured in some files' first messages.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from typing import NamedTuple

from data_pipeline.sources.markup import has_html

_LINES = 10  # the commonest openings, and endings, that count
_LEAST, _LEAST_SHARE = 5, 0.01
"""Texts, and their share, that a repeated line begins or ends at least."""
_ROUNDS = 5  # lines of the longest signature that is found


class Repeated(NamedTuple):
    """What some texts have in common."""

    texts: int  # how many were looked at
    repeated: int  # how many of them begin or end with one of the lines
    lines: tuple[str, ...]  # the commonest openings and endings; of longer ones, all lines
    markup: int  # how many have HTML tags or entities


def measure(texts: Sequence[str]) -> Repeated:
    """What the texts have in common."""
    found: dict[str, None] = {}
    left = texts
    for _ in range(_ROUNDS):
        lines = _commonest(left)
        if not lines:
            break
        found |= dict.fromkeys(lines)
        left = [without_lines(text, lines) for text in left]
    repeated = sum(before != after for before, after in zip(texts, left, strict=True))
    markup = sum(map(has_html, texts))
    return Repeated(len(texts), repeated, tuple(found), markup)


def _commonest(texts: Sequence[str]) -> list[str]:
    split = [text.split("\n") for text in texts if "\n" in text]
    least = max(_LEAST, _LEAST_SHARE * len(texts))
    counted = (Counter(lines[end].strip() for lines in split) for end in (0, -1))
    ranked = (pair for counts in counted for pair in counts.most_common(_LINES))
    return [line for line, count in ranked if count >= least]


def without_lines(text: str, lines: Collection[str]) -> str:
    """A text without those of the lines with which it begins or ends, one after the other."""
    left = text.split("\n")
    if len(left) > 1:
        for end in (0, -1):
            while left and (not left[end].strip() or left[end].strip() in lines):
                left.pop(end)
    return "\n".join(left).strip()

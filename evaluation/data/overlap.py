"""Texts that are the same but for case and marks: in evaluation sets and in training data.

Texts are compared as `normalize` returns them. An item overlaps as a pair if one training record
has its two texts, in either order, and by its texts if one of them is anywhere in the records.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, TypeVar

from common.text_files import MIN_CHARACTERS, normalize

T = TypeVar("T")
TextPair = tuple[str, str]


class Overlap(NamedTuple):
    """Row numbers of the items of one evaluation set that overlap."""

    pairs: set[int]
    texts: set[int]
    records: int  # that were compared


def find(items: Mapping[T, list[TextPair]], training: Iterable[Sequence[str]]) -> dict[T, Overlap]:
    """Return each set's overlap with training records, two texts and any context turns each."""
    keys = {name: [tuple(map(_key, pair)) for pair in pairs] for name, pairs in items.items()}
    texts = {key for rows in keys.values() for row in rows for key in row if key}
    wanted = {frozenset(row) for rows in keys.values() for row in rows if all(row)}
    seen_texts: set[bytes] = set()
    seen_pairs: set[frozenset] = set()
    records = 0
    for records, record in enumerate(training, 1):  # noqa: B007
        left, right, *context = map(_key, record)
        seen_texts.update({left, right, *context} & texts)
        both = frozenset((left, right))
        if both in wanted:
            seen_pairs.add(both)
    return {
        name: Overlap(
            {i for i, row in enumerate(rows) if all(row) and frozenset(row) in seen_pairs},
            {i for i, row in enumerate(rows) if seen_texts & set(row)},
            records,
        )
        for name, rows in keys.items()
    }


def _key(text: str) -> bytes:
    """Return a hash of the normalized text; empty where that is too short."""
    words = normalize(text)
    if len(words) < MIN_CHARACTERS:
        return b""
    return hashlib.blake2b(words.encode("utf-8", "surrogatepass"), digest_size=8).digest()


def repeats(pairs: Iterable[tuple[str, str, float]]) -> dict[str, int]:
    """Count pairs with the texts of an earlier one, in either order, and conflicting ones.

    A pair conflicts if one with the same texts has another gold score.
    """
    golds: dict[frozenset, list[float]] = {}
    for pair in pairs:
        *texts, gold = pair
        # Of a text without words, such as an emoji, its marks count.
        same = frozenset(normalize(text) or text for text in texts)
        golds.setdefault(same, []).append(gold)
    return {
        "duplicate_pairs": sum(len(found) - 1 for found in golds.values()),
        "conflicting_pairs": sum(len(found) for found in golds.values() if len(set(found)) > 1),
    }

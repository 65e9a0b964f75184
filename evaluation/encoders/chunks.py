"""Sentences in chunks of similar lengths, each text once, and the way back."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

SENTENCES = 256
"""The most in one chunk."""
CHARACTERS = 2**16
"""The most in one chunk when all are as long as its longest, as padding makes them."""


def chunks(lengths: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of chunks of items whose lengths, in characters, do not fall.

    Few long ones go together where many short ones do, so that a chunk needs about the same
    memory at any length. One that is too long alone still makes a chunk.
    """
    start = 0
    for end in range(1, len(lengths) + 1):
        full = end - start == SENTENCES
        if end == len(lengths) or full or lengths[end] * (end + 1 - start) > CHARACTERS:
            yield start, end
            start = end


class Spread:
    """Brings the rows of different texts to every place where the texts stand."""

    def __init__(self, texts: Sequence[str], different: Sequence[str]):
        """`different` holds every text of `texts` once, in the order in which rows come."""
        number = {text: i for i, text in enumerate(different)}
        self._number_at = np.fromiter((number[text] for text in texts), np.int64, len(texts))
        self._places = np.argsort(self._number_at, kind="stable")
        counts = np.bincount(self._number_at, minlength=len(different))
        self._starts = np.concatenate([[0], np.cumsum(counts)])
        self._written = 0
        self.rows = np.empty((len(texts), 0), dtype=np.float32)
        """[texts, dim], as wide as what was written first."""

    def write(self, rows: np.ndarray) -> None:
        """Write the rows of the next different texts: float32 [n, dim]."""
        first, self._written = self._written, self._written + len(rows)
        if first == 0:
            self.rows = np.empty((len(self.rows), rows.shape[1]), dtype=np.float32)
        places = self._places[self._starts[first] : self._starts[self._written]]
        self.rows[places] = rows[self._number_at[places] - first]


def by_length(texts: set[str]) -> list[str]:
    """Return the texts, short ones first, in an order that depends on nothing but themselves."""
    return sorted(sorted(texts), key=len)


def in_halves(
    encode: Callable[[Sequence], np.ndarray], items: Sequence, *, retry: type[Exception]
) -> np.ndarray:
    """Return what `encode` makes of the items, in halves and quarters where it fails on all.

    So the one item it fails on is found, or batches that fit where the whole did not.
    """
    try:
        return encode(items)
    except retry:
        if len(items) == 1:
            raise
    middle = len(items) // 2
    parts = (items[:middle], items[middle:])
    return np.concatenate([in_halves(encode, part, retry=retry) for part in parts])

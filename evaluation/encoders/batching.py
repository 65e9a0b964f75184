"""Each text encoded once, in batches of similar lengths."""

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np
from tqdm import tqdm

from common.errors import InputError

SENTENCES = 256
"""The most in one batch."""
CHARACTERS = 2**16
"""The most in one batch when all are as long as its longest, as padding makes them."""
CACHE_BYTES = 256 * 2**20

Encode = Callable[[Sequence[str]], np.ndarray]
"""Texts to rows: float32 [texts, dim]."""


class BatchedEncoder:
    """Encodes any number of texts with a function of one batch, and remembers rows.

    Rows of texts that were encoded before are kept in at most `max_bytes`; when these are full,
    the cache starts again from empty. A batch that fails is tried again in halves, so that the one
    text that it fails on is found, or batches that fit into memory where the whole did not.
    """

    def __init__(
        self,
        encode: Encode,
        *,
        path: str,
        label: str = "encoding",
        zeros_allowed: bool = False,
        max_bytes: int = CACHE_BYTES,
    ):
        """Wrap a function.

        Args:
          encode: encodes one batch.
          path: of the module, for errors.
          label: of the progress bar.
          zeros_allowed: whether a row may be all zeros.
          max_bytes: of the rows that are remembered.
        """
        self._encode, self._path, self._label = encode, path, label
        self._zeros_allowed, self._max_bytes = zeros_allowed, max_bytes
        self._cache: dict[str, np.ndarray] = {}
        self._bytes = 0

    def __call__(self, texts: Sequence[str]) -> np.ndarray:
        """Return float32 [len(texts), dim], in their order.

        Raises:
          InputError: if a row is not finite, or all zeros where that is not allowed.
        """
        positions: dict[str, list[int]] = {}
        for position, text in enumerate(texts):
            positions.setdefault(text, []).append(position)
        rows: np.ndarray | None = None
        with tqdm(total=len(positions), desc=self._label, unit=" sentences", leave=False) as bar:
            for batch, found in self._batches(list(positions)):
                if rows is None:
                    rows = np.empty((len(texts), found.shape[1]), dtype=np.float32)
                at = [position for text in batch for position in positions[text]]
                rows[at] = np.repeat(found, [len(positions[text]) for text in batch], axis=0)
                bar.update(len(batch))
        if rows is None:
            raise ValueError("no texts to encode; one or more are needed")
        return rows

    def _batches(self, texts: list[str]) -> Iterator[tuple[list[str], np.ndarray]]:
        """Yield different texts and their rows."""
        known = [text for text in texts if text in self._cache]
        new = by_length(set(texts) - set(known))
        if known:
            yield known, np.stack([self._cache[text] for text in known])
        for start, end in batches([len(text) for text in new]):
            batch = new[start:end]
            rows = self._in_halves(batch)
            check_rows(rows, batch, path=self._path, zeros_allowed=self._zeros_allowed)
            yield batch, rows
            if self._bytes + rows.nbytes > self._max_bytes:
                self._cache, self._bytes = {}, 0
            if rows.nbytes <= self._max_bytes:
                self._cache |= zip(batch, rows, strict=True)
                self._bytes += rows.nbytes

    def _in_halves(self, texts: list[str]) -> np.ndarray:
        try:
            return self._encode(texts)
        except InputError:
            if len(texts) == 1:
                raise
        middle = len(texts) // 2
        return np.concatenate([self._in_halves(texts[:middle]), self._in_halves(texts[middle:])])


def check_rows(
    rows: np.ndarray, texts: Sequence[str], *, path: str, zeros_allowed: bool = False
) -> None:
    """Raise InputError naming the first text whose row is not finite, or all zeros."""
    good = np.isfinite(rows).all(axis=1) & (zeros_allowed | rows.any(axis=1))
    if not good.all():
        text = texts[int(np.argmin(good))]
        raise InputError(f"{path}: gives zeros or a number that is not finite for {text!r}")


def batches(lengths: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of batches of items whose lengths, in characters, do not fall.

    Few long ones go together where many short ones do, so that a batch needs about the same
    memory at any length. One that is too long alone still makes a batch.
    """
    start = 0
    for end in range(1, len(lengths) + 1):
        full = end - start == SENTENCES
        if end == len(lengths) or full or lengths[end] * (end + 1 - start) > CHARACTERS:
            yield start, end
            start = end


def by_length(texts: Iterable[str]) -> list[str]:
    """Return the texts, short ones first, in an order that depends on nothing but themselves."""
    return sorted(texts, key=lambda text: (len(text), text))

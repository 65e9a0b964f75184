"""Each text encoded once, in batches of similar lengths."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from tqdm import tqdm

from evaluation.errors import InputError

SENTENCES = 256
"""The most in one batch."""
CHARACTERS = 2**16
"""The most in one batch when all are as long as its longest, as padding makes them."""
CACHE_BYTES = 256 * 2**20

Encode = Callable[[Sequence], np.ndarray]
"""Texts to rows: float [texts, dim]."""


class BatchedEncoder:
    """Encodes any number of texts with a function of one batch, and remembers rows.

    Rows of texts that were encoded before are kept in at most `max_bytes`; when these are full,
    the cache starts again from empty.
    """

    def __init__(
        self,
        encode: Encode,
        *,
        path: str,
        retry: type[Exception],
        label: str = "encoding",
        zeros_allowed: bool = False,
        max_bytes: int = CACHE_BYTES,
    ):
        """Wrap a function.

        Args:
          encode: encodes one batch.
          path: of the module, for errors.
          retry: an error on which a batch is tried again in halves.
          label: of the progress bar.
          zeros_allowed: whether a row may be all zeros.
          max_bytes: of the rows that are remembered.
        """
        self._encode, self._path, self._label = encode, path, label
        self._retry, self._zeros_allowed = retry, zeros_allowed
        self._max_bytes = max_bytes
        self._cache: dict[str, np.ndarray] = {}
        self._bytes = 0

    def __call__(self, texts: Sequence[str]) -> np.ndarray:
        """Return float32 [len(texts), dim], in their order.

        Raises:
          InputError: if a row is not finite, or all zeros where that is not allowed.
        """
        if not texts:
            raise ValueError("sentences: at least one is needed, received none")
        positions: dict[str, list[int]] = {}
        for position, text in enumerate(texts):
            if not isinstance(text, str):
                raise ValueError(f"sentences[{position}]: {text!r}; accepted: text (str)")
            positions.setdefault(text, []).append(position)
        rows: np.ndarray | None = None

        def write(different: list[str], found: np.ndarray) -> None:
            nonlocal rows
            if rows is None:
                rows = np.empty((len(texts), found.shape[1]), dtype=np.float32)
            if found.shape[1] != rows.shape[1]:
                widths = sorted({rows.shape[1], found.shape[1]})
                raise InputError(f"{self._path}: rows of different widths: {widths}")
            at = [position for text in different for position in positions[text]]
            rows[at] = np.repeat(found, [len(positions[text]) for text in different], axis=0)

        known = [text for text in positions if text in self._cache]
        new = by_length(positions.keys() - set(known))
        if known:
            write(known, np.stack([self._cache[text] for text in known]))
        with tqdm(total=len(new), desc=self._label, unit=" sentences", leave=False) as progress:
            for start, end in batches([len(text) for text in new]):
                batch = new[start:end]
                found = self._checked(batch)
                write(batch, found)
                self._remember(batch, found)
                progress.update(len(batch))
        assert rows is not None
        return rows

    def _checked(self, batch: list[str]) -> np.ndarray:
        rows = in_halves(self._encode, batch, retry=self._retry)
        check_rows(rows, batch, path=self._path, zeros_allowed=self._zeros_allowed)
        return rows

    def _remember(self, texts: list[str], rows: np.ndarray) -> None:
        if self._bytes + rows.nbytes > self._max_bytes:
            self._cache, self._bytes = {}, 0
        if rows.nbytes <= self._max_bytes:
            self._cache |= zip(texts, rows, strict=True)
            self._bytes += rows.nbytes


def check_rows(
    rows: np.ndarray, texts: Sequence[str], *, path: str, zeros_allowed: bool = False
) -> None:
    """Raise InputError naming the first text whose row is not finite, or all zeros."""
    for good, problem in (
        (np.isfinite(rows).all(axis=1), "a NaN or infinite value"),
        (zeros_allowed | rows.any(axis=1), "an all-zero row"),
    ):
        if not good.all():
            text = texts[int(np.argmin(good))]
            raise InputError(f"{path}: gives {problem} for the sentence {text!r}")


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


def by_length(texts) -> list[str]:
    """Return the texts, short ones first, in an order that depends on nothing but themselves."""
    return sorted(sorted(texts), key=len)


def in_halves(encode: Encode, items: Sequence, *, retry: type[Exception]) -> np.ndarray:
    """Return the rows of the items, encoded in halves and quarters where all at once fails.

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

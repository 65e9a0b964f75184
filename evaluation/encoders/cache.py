"""The rows of texts that were encoded before, in a bounded piece of memory."""

from collections.abc import Sequence

import numpy as np

MAX_BYTES = 256 * 2**20


class RowCache:
    """Remembers the latest rows of at most `max_bytes`; beyond that the oldest are forgotten."""

    def __init__(self, max_bytes: int = MAX_BYTES):
        self._max_bytes = max_bytes
        self._slot_of: dict[str, int] = {}
        self._text_in: list[str] = []
        self._next = 0
        self._table: np.ndarray | None = None

    def __contains__(self, text: str) -> bool:
        return text in self._slot_of

    def __len__(self) -> int:
        return len(self._slot_of)

    def rows(self, texts: Sequence[str]) -> np.ndarray:
        """Return the rows of texts that are all in here: float32 [len(texts), dim]."""
        if self._table is None:
            raise KeyError(texts)
        return self._table[[self._slot_of[text] for text in texts]]

    def add(self, texts: Sequence[str], rows: np.ndarray) -> None:
        """Keep the rows, float32 [len(texts), dim], of texts that are not in here yet."""
        if self._table is None:
            capacity = max(1, self._max_bytes // (rows.shape[1] * rows.itemsize))
            # Memory that is not written to is not taken.
            self._table = np.empty((capacity, rows.shape[1]), dtype=rows.dtype)
        capacity = len(self._table)
        texts, rows = texts[-capacity:], rows[-capacity:]
        start, at_end = self._next, min(len(texts), capacity - self._next)
        self._table[start : start + at_end] = rows[:at_end]
        self._table[: len(texts) - at_end] = rows[at_end:]
        for slot, text in enumerate(texts, start):
            self._name(slot % capacity, text)
        self._next = (start + len(texts)) % capacity

    def _name(self, slot: int, text: str) -> None:
        """Say whose row stands in a slot now."""
        if slot < len(self._text_in):
            del self._slot_of[self._text_in[slot]]
            self._text_in[slot] = text
        else:
            self._text_in.append(text)
        self._slot_of[text] = slot

"""Texts as means of their words' vectors, plain or weighted as in SIF (Arora et al. 2017)."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from evaluation.encoders.fitted import FittedEncoder, tokens
from evaluation.encoders.word_vectors import Lookup, Table

SMOOTH = 1e-3
"""The `a` of SIF's weight a / (a + p), p being how often a word is among all words."""


class Averaged(FittedEncoder):
    """The mean of the vectors of a text's words; words without a vector do not count."""

    def __init__(self, name: str, *, source: str, lookup: Lookup, kind: str = "averaged"):
        super().__init__(f"{name} ({kind})", source=source)
        self._lookup = lookup
        self._table: Table = {}

    def _learn(self, texts: Sequence[str]) -> None:
        self._table = self._lookup({word for text in texts for word in tokens(text)})

    def _weight(self, word: str) -> float:
        """Return what a word counts."""
        return 1.0

    def _rows(self, texts: Sequence[str]) -> np.ndarray:
        dim = len(next(iter(self._table.values()), [0]))
        rows = np.zeros((len(texts), dim), dtype=np.float32)
        for i, text in enumerate(texts):
            known = [word for word in tokens(text) if word in self._table]
            for word in known:
                rows[i] += self._weight(word) * self._table[word] / len(known)
        return rows


class Sif(Averaged):
    """Smooth inverse frequency: rare words count more, and what all texts share is taken out.

    A mean weighted by a / (a + p), less its part in the first singular direction of all texts. How
    often words are and that direction come from the texts themselves.
    """

    def __init__(self, name: str, *, source: str, lookup: Lookup):
        super().__init__(name, source=source, lookup=lookup, kind="SIF")
        self._share: dict[str, float] = {}
        self._common: np.ndarray | None = None

    def _learn(self, texts: Sequence[str]) -> None:
        super()._learn(texts)
        counts = Counter(word for text in texts for word in tokens(text))
        total = sum(counts.values())
        self._share = {word: count / total for word, count in counts.items()}
        self._common = None
        rows = super()._rows(texts).astype(np.float64)
        _, directions = np.linalg.eigh(rows.T @ rows)
        self._common = directions[:, -1].astype(np.float32)  # of the largest eigenvalue

    def _weight(self, word: str) -> float:
        return SMOOTH / (SMOOTH + self._share.get(word, 0.0))

    def _rows(self, texts: Sequence[str]) -> np.ndarray:
        rows = super()._rows(texts)
        return rows if self._common is None else rows - np.outer(rows @ self._common, self._common)

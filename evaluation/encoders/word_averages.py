"""Texts as means of their words' vectors, plain or weighted as in SIF (Arora et al. 2017)."""

import hashlib
import re
from collections import Counter
from collections.abc import Sequence

import numpy as np

from evaluation.encoders.word_vectors import Lookup, Table
from evaluation.errors import InputError

TOKEN = r"\w+|[^\w\s]"
"""A word, or a single mark."""
SMOOTH = 1e-3
"""The `a` of SIF's weight a / (a + p), p being how often a word is among all words."""


def tokens(text: str) -> list[str]:
    """Return the words and the single marks of a text, as they are written."""
    return re.findall(TOKEN, text)


def provenance(name: str, *, source: str, texts: Sequence[str], unknown: int = 0) -> dict:
    """Return what identifies a baseline: its name, what it was made of, the texts it learned from.

    `unknown` is how many of the texts it has no word for.
    """
    digest = hashlib.sha256("\0".join(texts).encode()).hexdigest()
    identity = f"{name}\0{source}\0{digest}"
    return {
        "path": name,
        "fingerprint": hashlib.sha256(identity.encode()).hexdigest(),
        "texts_without_a_known_word": unknown,
    }


class WordAverage:
    """The mean of the vectors of a text's words; words without a vector do not count.

    With `sif`, smooth inverse frequency: each word weighted by a / (a + p), p being its share of
    all words of the texts, less the part of the mean in the first singular direction of all texts.
    A text without a known word gets the mean of all texts, so that it is as similar to any text as
    to any other; `provenance` counts these.
    """

    gives_embeddings = True

    def __init__(self, name: str, *, source: str, lookup: Lookup, sif: bool = False):
        """`source` identifies the vectors, such as a file's hash; `lookup` gives them."""
        self.path = f"{name} ({'SIF' if sif else 'averaged'})"
        self.signatures: dict = {}
        self._source, self._lookup, self._sif = source, lookup, sif
        self._texts: list[str] = []
        self._table: Table = {}
        self._share: dict[str, float] = {}
        self._common: np.ndarray | None = None
        self._mean = np.zeros(1, dtype=np.float32)
        self._unknown = 0

    def fit(self, texts: Sequence[str]) -> "WordAverage":
        """Look up the words of all texts to score, and learn their frequencies; return itself.

        Raises:
          InputError: if no word of theirs is known.
        """
        self._texts = sorted(set(texts))
        counts = Counter(word for text in self._texts for word in tokens(text))
        total = sum(counts.values())
        self._table = self._lookup(counts.keys())
        self._share = {word: count / total for word, count in counts.items()}
        self._common = None
        if self._sif:
            rows = self._rows(self._texts).astype(np.float64)
            _, directions = np.linalg.eigh(rows.T @ rows)
            self._common = directions[:, -1].astype(np.float32)  # of the largest eigenvalue
        rows = self._rows(self._texts)
        known = rows.any(axis=1)
        if not known.any():
            raise InputError(f"{self.path}: knows no word of the {len(self._texts):,} texts")
        self._mean = rows[known].mean(axis=0)
        self._unknown = int((~known).sum())
        return self

    def encode(self, sentences: Sequence[str]) -> np.ndarray:
        """Return float32 [len(sentences), dim], no row of zeros."""
        rows = self._rows(sentences)
        rows[~rows.any(axis=1)] = self._mean
        return rows

    def encode_inputs(self, sentences: Sequence[str]) -> np.ndarray:
        """Return the same, of unit length: a dot product is then a cosine."""
        rows = self.encode(sentences)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    encode_responses = encode_inputs

    def provenance(self) -> dict:
        """Return the name, what identifies it and its texts, and how many it had no word for."""
        return provenance(self.path, source=self._source, texts=self._texts, unknown=self._unknown)

    def weight(self, word: str) -> float:
        """Return what a word counts."""
        return SMOOTH / (SMOOTH + self._share.get(word, 0.0)) if self._sif else 1.0

    def _rows(self, texts: Sequence[str]) -> np.ndarray:
        """Return float32 [len(texts), dim], rows of zeros where no word is known."""
        dim = len(next(iter(self._table.values()), [0]))
        rows = np.zeros((len(texts), dim), dtype=np.float32)
        for i, text in enumerate(texts):
            known = [word for word in tokens(text) if word in self._table]
            for word in known:
                rows[i] += self.weight(word) * self._table[word] / len(known)
        if self._common is None:
            return rows
        return rows - np.outer(rows @ self._common, self._common)

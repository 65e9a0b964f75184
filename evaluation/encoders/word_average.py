"""Baselines that need no training: texts as means of their words' vectors.

Means are plain or weighted as in SIF (Arora et al. 2017).
"""

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np
import scipy.sparse

from common.errors import InputError
from evaluation.encoders.tfidf import TOKEN, provenance
from evaluation.encoders.word_tables import WordTable

SMOOTH = 1e-3
"""The `a` of SIF's weight a / (a + p), p being how often a word is among all words."""


class WordAverage:
    """The mean of the vectors of a text's words; words without a vector do not count.

    With `sif`, smooth inverse frequency: each word weighted by a / (a + p), p being its share of
    all words of the texts, less the part of the mean in the first singular direction of all texts.
    A text without a known word gets the mean of all texts, so that it is as similar to any text as
    to any other; `provenance` counts these.
    """

    gives_embeddings = True

    def __init__(self, words: WordTable, *, sif: bool = False):
        self.path = f"{words.name} ({'SIF' if sif else 'averaged'})"
        self._words, self._sif = words, sif
        self._texts: list[str] = []
        self._column: dict[str, int] = {}
        self._vectors = np.zeros((0, 1), dtype=np.float32)
        self._weights = np.zeros(0, dtype=np.float32)
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
        table = self._words.lookup(counts.keys())
        if not any(row.any() for row in table.values()):
            raise InputError(f"{self.path}: knows no word of the {len(self._texts):,} texts")
        self._column = {word: column for column, word in enumerate(table)}
        self._vectors = np.stack(list(table.values())).astype(np.float32)
        total = counts.total()
        weights = [SMOOTH / (SMOOTH + counts[word] / total) if self._sif else 1.0 for word in table]
        self._weights = np.array(weights, dtype=np.float32)
        self._common = None
        rows = self._rows(self._texts)
        known = rows.any(axis=1)
        if self._sif:
            moments = rows.astype(np.float64).T @ rows
            _, directions = np.linalg.eigh(moments)
            self._common = directions[:, -1].astype(np.float32)  # of the largest eigenvalue
            rows = self._without_common(rows)
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
        return provenance(
            self.path, source=self._words.source, texts=self._texts, unknown=self._unknown
        )

    def _rows(self, texts: Sequence[str]) -> np.ndarray:
        """Return float32 [len(texts), dim], rows of zeros where no word is known."""
        columns = [
            [self._column[word] for word in tokens(text) if word in self._column] for text in texts
        ]
        sizes = np.array([len(one) for one in columns], dtype=np.int64)
        flat = np.array([column for one in columns for column in one], dtype=np.int64)
        weights = self._weights[flat] / np.repeat(sizes, sizes).astype(np.float32)
        shape = len(texts), len(self._column)
        ends = np.concatenate([[0], np.cumsum(sizes)])
        rows = scipy.sparse.csr_array((weights, flat, ends), shape=shape) @ self._vectors
        return self._without_common(rows)

    def _without_common(self, rows: np.ndarray) -> np.ndarray:
        """Return rows less their part in the first singular direction, once that is known."""
        if self._common is None:
            return rows
        return rows - np.outer(rows @ self._common, self._common)


def tokens(text: str) -> list[str]:
    """Return the words and the single marks of a text, as they are written."""
    return re.findall(TOKEN, text)

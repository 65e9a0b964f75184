"""Baselines that need no training: texts as means of their words' vectors.

Means are plain or weighted as in SIF (Arora et al. 2017). The vectors are those of a file or of a
module, or random numbers.
"""

import hashlib
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy.sparse

from common import text_files, word_vectors
from common.errors import InputError
from evaluation.encoders.tfidf import TOKEN, provenance

SMOOTH = 1e-3
"""The `a` of SIF's weight a / (a + p), p being how often a word is among all words."""
RANDOM_DIM = 500
"""Numbers of an untrained word."""


class WordTable(NamedTuple):
    """Word vectors and what identifies them."""

    name: str
    source: str
    """A hash or a description: other vectors, another one."""
    lookup: Callable[[Iterable[str]], dict[str, np.ndarray]]
    """Words to the vectors of those that have one: float32 [dim]."""


def untrained(*, letters: bool) -> WordTable:
    """Return the words of a model without training: random numbers.

    A lower-cased word has `RANDOM_DIM` normal numbers, drawn by its checksum. With `letters` the
    mean of its letter trigrams is added, of which a misspelt word has most; ends of words count as
    letters. It is what a model that sums words says before it has learned anything.
    """

    def vector(word: str) -> np.ndarray:
        if not letters:
            return _random(word)
        marked = f"<{word}>"
        grams = [_random(marked[i : i + 3] + "\0") for i in range(len(marked) - 2)]
        return _random(word) + np.sum(grams, axis=0) / np.sqrt(len(grams))

    name = "untrained words and letters" if letters else "untrained words"
    about = f"{name}: {RANDOM_DIM} normal numbers"
    return WordTable(name, about, lambda words: {word: vector(word.lower()) for word in words})


@lru_cache(maxsize=1 << 16)
def _random(text: str) -> np.ndarray:
    numbers = np.random.default_rng(zlib.crc32(text.encode()))
    return numbers.standard_normal(RANDOM_DIM, dtype=np.float32)


def of_file(path: Path) -> WordTable:
    """Return the words of a file that `common.word_vectors` reads.

    Only words that are asked for are kept, so a file may be larger than memory. A word that is not
    in there in the case that it is written in is looked up in lower case.
    """

    def lookup(words: Iterable[str]) -> dict[str, np.ndarray]:
        asked = sorted(words)
        wanted = {*asked, *map(str.lower, asked)}
        found: dict[str, np.ndarray] = {}
        for entry in word_vectors.read(path):
            if entry.word in wanted and entry.word not in found:
                found[entry.word] = entry.vector()
        cased = {word: found.get(word, found.get(word.lower())) for word in asked}
        return {word: row for word, row in cased.items() if row is not None}

    name = text_files.unpacked_name(path).removesuffix(".txt").removesuffix(".vec")
    return WordTable(name, text_files.sha256([path]), lookup)


def of_module(module: str) -> WordTable:
    """Return the words of a module with the signature `word_vectors`."""
    from evaluation.encoders.saved_model import Encoder  # importing TensorFlow takes seconds

    encoder = Encoder(module)
    encoder.word_vectors(["word"])  # an error now rather than after other baselines were scored

    def lookup(words: Iterable[str]) -> dict[str, np.ndarray]:
        asked = sorted(words)
        rows = encoder.word_vectors(asked)
        return {word: row for word, row in zip(asked, rows, strict=True) if row.any()}

    digest = hashlib.sha256(encoder.provenance()["fingerprint"].encode()).hexdigest()
    return WordTable(f"words of {Path(module).name}", digest, lookup)


class WordAverage:
    """The mean of the vectors of a text's words; words without a vector do not count.

    With `sif`, smooth inverse frequency: each word weighted by a / (a + p), p being its share of
    all words of the texts, less the part of the mean in the first singular direction of all texts.
    A text without a known word gets the mean of all texts, so that it is as similar to any text as
    to any other; `provenance` counts these.
    """

    def __init__(self, words: WordTable, *, sif: bool = False):
        self.path = f"{words.name} ({'SIF' if sif else 'averaged'})"
        self._words, self._sif = words, sif

    def fit(self, texts: Sequence[str]) -> "WordAverage":
        """Look up the words of all texts to score, and learn their frequencies; return itself.

        Raises:
          InputError: if no word of theirs is known.
        """
        texts = sorted(set(texts))
        counts = Counter(word for text in texts for word in _tokens(text))
        table = self._words.lookup(counts.keys())
        if not any(row.any() for row in table.values()):
            raise InputError(f"{self.path}: knows no word of the {len(texts):,} texts")
        self._column = {word: column for column, word in enumerate(table)}
        self._vectors = np.stack(list(table.values())).astype(np.float32)
        total = counts.total()
        weights = [SMOOTH / (SMOOTH + counts[word] / total) if self._sif else 1.0 for word in table]
        self._weights = np.array(weights, dtype=np.float32)
        self._common: np.ndarray | None = None
        rows = self._rows(texts)
        known = rows.any(axis=1)
        if self._sif:
            _, directions = np.linalg.eigh(rows.astype(np.float64).T @ rows)
            self._common = directions[:, -1].astype(np.float32)  # of the largest eigenvalue
            rows = self._without_common(rows)
        self._mean = rows[known].mean(axis=0)
        self._provenance = provenance(
            self.path, source=self._words.source, texts=texts, unknown=int((~known).sum())
        )
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
        return self._provenance

    def _rows(self, texts: Sequence[str]) -> np.ndarray:
        """Return float32 [len(texts), dim], rows of zeros where no word is known."""
        columns = [
            [self._column[word] for word in _tokens(text) if word in self._column] for text in texts
        ]
        sizes = np.array([len(one) for one in columns], dtype=np.int64)
        flat = np.array([column for one in columns for column in one], dtype=np.int64)
        weights = self._weights[flat] / np.repeat(sizes, sizes).astype(np.float32)
        ends = np.concatenate([[0], np.cumsum(sizes)])
        shape = len(texts), len(self._column)
        rows = scipy.sparse.csr_array((weights, flat, ends), shape=shape) @ self._vectors
        return self._without_common(rows)

    def _without_common(self, rows: np.ndarray) -> np.ndarray:
        """Return rows less their part in the first singular direction, once that is known."""
        if self._common is None:
            return rows
        return rows - np.outer(rows @ self._common, self._common)


def _tokens(text: str) -> list[str]:
    """Return the words and the single marks of a text, as they are written."""
    return re.findall(TOKEN, text)

"""Baselines that know words alone: TF-IDF, BM25, and means of word vectors.

Means are plain or weighted as in SIF (Arora et al. 2017). The vectors are those of a file or of a
module, or random numbers: none of these baselines needs training.
"""

import hashlib
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import bm25s
import numpy as np
import scipy.sparse.linalg
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

import evaluation
from common import text_files
from common.encoders import word_vectors
from common.errors import InputError, reading
from evaluation.metrics.similarity import unit

TOKEN = r"\w+|[^\w\s]"  # a word, or a single mark
METHOD, K1, B = "robertson", 1.5, 0.75
"""bm25s's own constants, and Robertson's idf: of bm25s's variants it is the best on validation
pairs of Reddit, by 0.01 of P@1 of 100 (November 2026)."""
SMOOTH = 1e-3  # the `a` of SIF's weight a / (a + p), p being how often a word is among all words
RANDOM_DIM = 500
_tokens = re.compile(TOKEN).findall


def _provenance(name: str, *, source: str, texts: Iterable[str], unknown: int = 0) -> dict:
    digest = hashlib.sha256("\0".join(texts).encode()).hexdigest()
    whole = hashlib.sha256(f"{name}\0{source}\0{digest}".encode()).hexdigest()
    return {"path": name, "fingerprint": whole, "texts_without_a_known_word": unknown}


class TfIdf:
    """scikit-learn's TF-IDF of lower-cased words and single marks, smoothed idf.

    A word counts as often as it occurs times 1 + ln((1 + n) / (1 + texts with it)); rows have
    length 1, so a dot product is a cosine.
    """

    path = "TF-IDF"
    sparse = True

    def fit(self, texts: Sequence[str]) -> "TfIdf":
        """Learn the words and their frequencies from all texts to score; return itself."""
        self._texts = sorted(set(texts))
        self._vectorizer = TfidfVectorizer(token_pattern=TOKEN)
        with reading(self.path):
            rows = scipy.sparse.csr_array(self._vectorizer.fit_transform(self._texts))
        mean = scipy.sparse.csr_array(rows.mean(axis=0)[None, :])
        self._mean = mean / scipy.sparse.linalg.norm(mean)
        return self

    def encode(self, sentences: Sequence[str]) -> scipy.sparse.csr_array:
        """Return sparse float64 [len(sentences), words]; without a known word, the mean text."""
        rows = scipy.sparse.csr_array(self._vectorizer.transform(sentences))
        empty = scipy.sparse.csr_array((rows.sum(axis=1) == 0)[:, None].astype(float))
        return scipy.sparse.csr_array(rows + empty @ self._mean)

    encode_inputs = encode_responses = encode

    def provenance(self) -> dict:
        """Return what identifies it and its texts."""
        source = "lower-cased words, smoothed idf, length 1"
        return _provenance(self.path, source=source, texts=self._texts)


class Bm25:
    """BM25 of lower-cased words and single marks, as the library bm25s computes it.

    A query is its words, a document what BM25 gives for each of its words, so a dot product is the
    score. Document frequencies and the mean length are those of all texts to score. There is no
    embedding that is the same in both roles.
    """

    path = "BM25"
    gives_embeddings = False
    tasks = ("response_ranking", "cqa")

    def fit(self, texts: Sequence[str]) -> "Bm25":
        """Index all texts to score; return itself."""
        texts = sorted(set(texts))
        self._row = {text: row for row, text in enumerate(texts)}
        words = [_tokens(text.lower()) for text in texts]
        if not any(words):
            raise InputError(f"{self.path}: knows no word of the {len(texts):,} texts")
        index = bm25s.BM25(method=METHOD, k1=K1, b=B, dtype="float64")
        index.index(words, show_progress=False)
        columns = tuple(index.scores[name] for name in ("data", "indices", "indptr"))
        shape = len(texts), len(columns[-1]) - 1
        self._documents = scipy.sparse.csc_array(columns, shape=shape).tocsr()
        # The library adds an empty word.
        columns_of = {word: column for word, column in index.vocab_dict.items() if word}
        self._queries = CountVectorizer(token_pattern=TOKEN, vocabulary=columns_of)
        return self

    def encode_inputs(self, sentences: Sequence[str]) -> scipy.sparse.csr_array:
        """Return the queries, how often each has each word: float64 [len(sentences), words]."""
        return scipy.sparse.csr_array(self._queries.transform(sentences), dtype=np.float64)

    def encode_responses(self, sentences: Sequence[str]) -> scipy.sparse.csr_array:
        """Return documents, of the texts that `fit` was given: float64 [len(sentences), words]."""
        return self._documents[[self._row[text] for text in sentences]]

    def provenance(self) -> dict:
        """Return what identifies it and its texts."""
        source = f"bm25s {bm25s.__version__}, {METHOD}, k1 {K1}, b {B}"
        return _provenance(self.path, source=source, texts=self._row)


class WordTable(NamedTuple):
    """Word vectors and what identifies them."""

    name: str
    source: str  # a hash or a description: other vectors, another one
    lookup: Callable[[Iterable[str]], dict[str, np.ndarray]]
    """Words to the vectors of those that have one: float32 [dim]."""


def untrained(*, letters: bool) -> WordTable:
    """Return the words of an untrained model: `RANDOM_DIM` normal numbers, drawn by a checksum.

    The checksum is of the word in lower case. With `letters` the mean of its letter trigrams is
    added; ends of words count as letters.
    """

    def vector(word: str) -> np.ndarray:
        marked = f"<{word}>"
        grams = [_random(marked[i : i + 3] + "\0") for i in range(len(marked) - 2) if letters]
        return _random(word) + (np.sum(grams, axis=0) / np.sqrt(len(grams)) if grams else 0)

    name = "untrained words and letters" if letters else "untrained words"
    about = f"{name}: {RANDOM_DIM} normal numbers"
    return WordTable(name, about, lambda words: {word: vector(word.lower()) for word in words})


@lru_cache(maxsize=1 << 16)
def _random(text: str) -> np.ndarray:
    numbers = np.random.default_rng(zlib.crc32(text.encode()))
    return numbers.standard_normal(RANDOM_DIM, dtype=np.float32)


def of_file(path: Path) -> WordTable:
    """Return the words of a file of vectors: as they are written, or else in lower case."""

    def lookup(words: Iterable[str]) -> dict[str, np.ndarray]:
        asked = sorted(words)
        found = word_vectors.of_words(path, asked)
        cased = ((word, found.get(word, found.get(word.lower()))) for word in asked)
        return {word: row for word, row in cased if row is not None}

    name = text_files.unpacked_name(path).removesuffix(".txt").removesuffix(".vec")
    return WordTable(name, text_files.sha256([path]), lookup)


def of_module(module: str) -> WordTable:
    """Return the words of a module with the signature `word_vectors`."""
    encoder = evaluation.load_encoder(module)
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
    A text without a known word, which `provenance` counts, gets the mean of all texts.
    """

    def __init__(self, words: WordTable, *, sif: bool = False):
        self.path = f"{words.name} ({'SIF' if sif else 'averaged'})"
        self._words, self._sif = words, sif

    def fit(self, texts: Sequence[str]) -> "WordAverage":
        """Look up the words of all texts to score, and learn their frequencies; return itself."""
        texts = sorted(set(texts))
        counts = Counter(word for text in texts for word in _tokens(text))
        table = self._words.lookup(counts.keys())
        if not any(row.any() for row in table.values()):
            raise InputError(f"{self.path}: knows no word of the {len(texts):,} texts")
        self._counts = CountVectorizer(token_pattern=TOKEN, lowercase=False, vocabulary=[*table])
        self._vectors = np.stack(list(table.values())).astype(np.float32)
        shares = np.array([counts[word] / counts.total() for word in table])
        weights = SMOOTH / (SMOOTH + shares) if self._sif else np.ones(len(table))
        self._weights = weights.astype(np.float32)
        self._common: np.ndarray | None = None
        rows = self._rows(texts)
        known = rows.any(axis=1)
        if self._sif:
            _, directions = np.linalg.eigh(rows.astype(np.float64).T @ rows)
            self._common = directions[:, -1].astype(np.float32)  # of the largest eigenvalue
            rows -= np.outer(rows @ self._common, self._common)
        self._mean = rows[known].mean(axis=0)
        unknown, source = int((~known).sum()), self._words.source
        self._provenance = _provenance(self.path, source=source, texts=texts, unknown=unknown)
        return self

    def encode(self, sentences: Sequence[str]) -> np.ndarray:
        """Return float32 [len(sentences), dim], no row of zeros."""
        rows = self._rows(sentences)
        rows[~rows.any(axis=1)] = self._mean
        return rows

    def encode_inputs(self, sentences: Sequence[str]) -> np.ndarray:
        """Return the same, of unit length: a dot product is then a cosine."""
        return unit(self.encode(sentences))

    encode_responses = encode_inputs

    def provenance(self) -> dict:
        """Return the name, what identifies it and its texts, and how many it had no word for."""
        return self._provenance

    def _rows(self, texts: Sequence[str]) -> np.ndarray:
        """Return float32 [len(texts), dim], rows of zeros where no word is known."""
        counts = scipy.sparse.csr_array(self._counts.transform(texts), dtype=np.float32)
        sizes = np.maximum(counts.sum(axis=1), 1)[:, np.newaxis]
        rows = counts @ (self._weights[:, np.newaxis] * self._vectors) / sizes
        if self._common is not None:
            rows -= np.outer(rows @ self._common, self._common)
        return rows

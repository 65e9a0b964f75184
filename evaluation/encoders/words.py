"""Baselines that need no training: TF-IDF, and texts as means of their words' vectors.

Means are plain or weighted as in SIF (Arora et al. 2017); the vectors come from a text file such as
GloVe's, from a module with the signature `word_vectors`, or from a random number generator: what a
model that sums words says before it has learned anything.
"""

import hashlib
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
import scipy.sparse.linalg
from sklearn.feature_extraction.text import TfidfVectorizer

from evaluation.data.files import Source, existing, numbered_lines, without_gz
from evaluation.errors import InputError

Table = dict[str, np.ndarray]
Lookup = Callable[[Iterable[str]], Table]
"""Words to the vectors of those that have one: float32 [dim]."""

TOKEN = r"\w+|[^\w\s]"
"""A word, or a single mark."""
_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
RANDOM_DIM = 500
"""Numbers of an untrained word."""
SMOOTH = 1e-3
"""The `a` of SIF's weight a / (a + p), p being how often a word is among all words."""


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


class TfIdf:
    """scikit-learn's TF-IDF of lower-cased words and single marks, smoothed idf.

    A word counts as often as it occurs times 1 + ln((1 + n) / (1 + texts with it)); rows have
    length 1, so a dot product is a cosine.
    """

    path = "TF-IDF"
    gives_embeddings = True
    sparse = True

    def __init__(self) -> None:
        self.signatures: dict = {}
        self._texts: list[str] = []
        self._vectorizer = TfidfVectorizer(token_pattern=TOKEN)
        self._mean: scipy.sparse.csr_array | None = None

    def fit(self, texts: Sequence[str]) -> "TfIdf":
        """Learn the words and their frequencies from all texts to score; return itself.

        Raises:
          InputError: if they hold no word.
        """
        self._texts = sorted(set(texts))
        try:
            rows = scipy.sparse.csr_array(self._vectorizer.fit_transform(self._texts))
        except ValueError as error:
            raise InputError(
                f"{self.path}: knows no word of the {len(self._texts):,} texts"
            ) from error
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
        """Return the name, and what identifies it and its texts."""
        return provenance(
            self.path, source="lower-cased words, smoothed idf, length 1", texts=self._texts
        )


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
        self._column: dict[str, int] = {}
        self._vectors = np.zeros((0, 1), dtype=np.float32)
        self._weights = np.zeros(0, dtype=np.float32)
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
        self._share = {word: count / total for word, count in counts.items()}
        table = self._lookup(counts.keys())
        self._column = {word: column for column, word in enumerate(table)}
        unknown = InputError(f"{self.path}: knows no word of the {len(self._texts):,} texts")
        if not table:
            raise unknown
        self._vectors = np.stack(list(table.values())).astype(np.float32)
        self._weights = np.array([self.weight(word) for word in table], dtype=np.float32)
        self._common = None
        rows = self._rows(self._texts)
        known = rows.any(axis=1)
        if not known.any():
            raise unknown
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
        return provenance(self.path, source=self._source, texts=self._texts, unknown=self._unknown)

    def weight(self, word: str) -> float:
        """Return what a word counts."""
        return SMOOTH / (SMOOTH + self._share.get(word, 0.0)) if self._sif else 1.0

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


def untrained(*, letters: bool) -> tuple[str, str, Lookup]:
    """Return name, description and vectors of a model without training: random numbers.

    A lower-cased word has `RANDOM_DIM` normal numbers, drawn by its checksum. With `letters` the
    mean of its letter trigrams is added, of which a misspelt word has most; ends of words count as
    letters.
    """
    name = "untrained words and letters" if letters else "untrained words"

    def vectors(words: Iterable[str]) -> Table:
        return {word: _random_word(word.lower(), letters=letters) for word in words}

    return name, f"{name}: {RANDOM_DIM} normal numbers", vectors


def _random_word(word: str, *, letters: bool) -> np.ndarray:
    row = _random(word)
    if letters:
        marked = f"<{word}>"
        grams = [_random(marked[i : i + 3] + "\0") for i in range(len(marked) - 2)]
        row = row + np.sum(grams, axis=0) / np.sqrt(len(grams))
    return row


@lru_cache(maxsize=1 << 16)
def _random(text: str) -> np.ndarray:
    numbers = np.random.default_rng(zlib.crc32(text.encode()))
    return numbers.standard_normal(RANDOM_DIM, dtype=np.float32)


def of_file(path: Path) -> tuple[str, str, Lookup]:
    """Return name, hash and vectors of a file in GloVe's format or word2vec's text format.

    A line is a word and its numbers, behind spaces; a first line of two whole numbers is passed
    over. Only words that are asked for are kept, so a file may be larger than memory. A word that
    is not in there in the case that it is written in is looked up in lower case.
    """
    source = Source("words", (existing(path),))
    digest = source.provenance()["sha256"]
    return name_of_file(path), digest, lambda words: _read(path, set(words))


def name_of_file(path: Path) -> str:
    """Return the name of the vectors in a file."""
    return without_gz(path).removesuffix(".txt").removesuffix(".vec")


def _read(path: Path, words: set[str]) -> Table:
    """Read the lines of these words, or of their lower-cased forms."""
    wanted = words | {word.lower() for word in words}
    table: Table = {}
    dim = words_said = number = 0
    for number, line in numbered_lines(path):
        fields = line.rstrip(" ").split(" ")
        if number == 1 and "\t" in line:
            raise InputError(f"{path}:1: tabs; a word and its numbers between spaces are accepted")
        if number == 1 and len(fields) == 2:
            words_said = int(fields[0]) if fields[0].isdigit() else 0
            continue
        dim = dim or len(fields) - 1
        # GloVe 840B has words with spaces in them.
        word = " ".join(fields[: len(fields) - dim])
        extra = word.rpartition(" ")[2] if " " in word else ""
        if len(fields) <= dim or not dim or _NUMBER.fullmatch(extra):
            raise InputError(
                f"{path}:{number}: {len(fields)} fields; a word and {dim} numbers needed"
            )
        if word in wanted and word not in table:
            table[word] = _vector(fields[-dim:], place=f"{path}:{number}")
    if words_said and number <= words_said:
        raise InputError(
            f"{path}:{number + 1}: the file ends there; its first line says {words_said:,} words"
        )
    cased = {word: table.get(word, table.get(word.lower())) for word in words}
    return {word: row for word, row in cased.items() if row is not None}


def _vector(fields: list[str], *, place: str) -> np.ndarray:
    """Parse the numbers of a line."""
    try:
        row = np.array(fields, dtype=np.float32)
    except ValueError as error:
        raise InputError(f"{place}: {error}; numbers are needed behind the word") from error
    if not np.isfinite(row).all():
        raise InputError(f"{place}: a NaN or infinite number")
    return row


def of_module(module: str) -> tuple[str, str, Lookup]:
    """Return name, hash and vectors of a module with the signature `word_vectors`."""
    from evaluation.encoders.saved_model import Encoder

    encoder = Encoder(module)
    encoder.word_vectors(["word"])  # an error now rather than after other baselines were scored

    def vectors(words: Iterable[str]) -> Table:
        different = sorted(set(words))
        rows = encoder.word_vectors(different)
        return {word: row for word, row in zip(different, rows, strict=True) if row.any()}

    digest = hashlib.sha256(encoder.provenance()["fingerprint"].encode()).hexdigest()
    return name_of_module(module), digest, vectors


def name_of_module(module: str) -> str:
    """Return the name of the vectors in a module."""
    return f"words of {Path(module).name}"

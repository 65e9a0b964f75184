"""Word vectors of the words of some sentences, from a file or from a SavedModel.

`common.word_vectors` reads the formats of GloVe, fastText and word2vec; a SavedModel needs the
signature `word_vectors`.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from common import word_vectors
from common.errors import InputError

PADDING, UNKNOWN = 0, 1
_SPECIAL = 2
"""Rows of a table before the first word; both are zeros."""
_SIGNATURE = "word_vectors"
_CHUNK = 1024


@dataclass
class WordVectors:
    """A table of vectors, and the word of each row after `PADDING` and `UNKNOWN`."""

    words: list[str]
    table: np.ndarray
    """float32 [2 + words, dim]."""
    source: str
    unknown: Counter = field(default_factory=Counter)
    """How often each word without a vector was looked up."""
    looked_up: int = 0

    def __post_init__(self) -> None:
        self._row_of = {word: row for row, word in enumerate(self.words, start=_SPECIAL)}

    @property
    def dim(self) -> int:
        """Width of a vector."""
        return self.table.shape[1]

    def ids(self, sentence: list[str]) -> list[int]:
        """The row of each word: as written, else in lower case, else `UNKNOWN`."""
        rows = []
        for word in sentence:
            row = self._row_of.get(word) or self._row_of.get(word.lower())
            if row is None:
                self.unknown[word] += 1
            rows.append(row or UNKNOWN)
        self.looked_up += len(rows)
        return rows

    def counts(self) -> dict[str, int]:
        """How many words were looked up, and how many of them have no vector."""
        return {
            "words": self.looked_up,
            "words_without_vector": self.unknown.total(),
            "different_words_without_vector": len(self.unknown),
        }


def load(
    path: Path, wanted: Iterable[str], *, dim: int | None = None, first: int = 0
) -> WordVectors:
    """Vectors of the wanted words; a word without one has zeros.

    Args:
      path: a file, or the folder of a SavedModel with the signature
        `word_vectors`.
      wanted: words, looked up as written and in lower case.
      dim: the width the vectors must have; by default that of the file's first line.
      first: also keep this many words from the start of the file, where the most frequent are; a
        module has no such order.

    Raises:
      InputError: if the vectors cannot be used; names the line.
    """
    asked = set(wanted)
    asked |= {word.lower() for word in asked}
    if path.is_dir():
        found = _of_module(path, sorted(asked))
    else:
        found = _of_file(path, asked, dim=dim, first=first)
    if not found:
        raise InputError(f"{path}: has a vector for none of the {len(asked)} words of the data")
    rows = np.stack(list(found.values()))
    if dim not in (None, rows.shape[1]):
        raise InputError(f"{path}: {rows.shape[1]} numbers a word; accepted: {dim}")
    table = np.concatenate([np.zeros_like(rows, shape=(_SPECIAL, rows.shape[1])), rows])
    return WordVectors(list(found), table, str(path))


def _of_file(path: Path, wanted: set[str], *, dim: int | None, first: int) -> dict[str, np.ndarray]:
    seen: set[str] = set()
    found: dict[str, np.ndarray] = {}
    for entry in word_vectors.read(path, dim=dim):
        if entry.word in seen:
            raise InputError(f"{entry.place}: the word {entry.word!r} again")
        seen.add(entry.word)
        if entry.word in wanted or len(seen) <= first:
            found[entry.word] = entry.vector()
    return found


def _of_module(path: Path, words: list[str]) -> dict[str, np.ndarray]:
    """A module's vectors, without those of all zeros: it has none for these words."""
    from common import saved_model

    apply = saved_model.of_texts(saved_model.load(path), _SIGNATURE, path=path)
    chunks = [words[start : start + _CHUNK] for start in range(0, len(words), _CHUNK)]
    table = np.concatenate([saved_model.encode(apply, chunk, path=path) for chunk in chunks])
    return {word: row for word, row in zip(words, table, strict=True) if row.any()}

"""Word vectors of the words of some sentences, from a file or from a SavedModel.

`model.initializers.vectors_file` reads the formats of GloVe, fastText and word2vec; a SavedModel
needs the signature `word_vectors`.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from model import output_folder
from model.errors import InputError
from model.initializers import vectors_file

PADDING, UNKNOWN = 0, 1
_SPECIAL = 2
"""Rows of a table before the first word."""
_CHUNK = 1024


@dataclass
class WordVectors:
    """A table of vectors, and the word of each row after `PADDING` and `UNKNOWN`."""

    words: list[str]
    table: np.ndarray
    """float32 [2 + words, dim]; row 0 is zeros."""
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
    path: Path, wanted: Iterable[str], *, unknown_as: str, dim: int | None = None, first: int = 0
) -> WordVectors:
    """Vectors of the wanted words.

    Args:
      path: a file that `vectors_file` reads, or the folder of a SavedModel with the signature
        `word_vectors`.
      wanted: words, looked up as written and in lower case.
      unknown_as: the vector of a word that has none: `zero`, or the `mean` of all that are kept.
      dim: the width the vectors must have; by default that of the file's first line.
      first: also keep this many words from the start of the file, where the most frequent are; a
        module has no such order.

    Raises:
      InputError: if the vectors cannot be used; names the line or the word.
    """
    asked = set(wanted)
    asked |= {word.lower() for word in asked}
    if path.is_dir():
        found = _of_module(path, sorted(asked), dim=dim)
    else:
        found = _of_file(path, asked, dim=dim, first=first)
    if not found:
        raise InputError(f"{path}: has a vector for none of the {len(asked)} words of the data")
    rows = np.stack(list(found.values()))
    unknown = rows.mean(axis=0) if unknown_as == "mean" else np.zeros_like(rows[0])
    table = np.concatenate([np.zeros_like(rows[:1]), unknown[np.newaxis], rows])
    return WordVectors(list(found), table, str(path))


def write(path: Path, words: Iterable[str], rows: np.ndarray) -> None:
    """Writes a file in GloVe's format; `rows` is float32 [words, dim]."""
    lines = (
        f"{word} {' '.join(f'{value:.6g}' for value in row)}\n"
        for word, row in zip(words, rows, strict=True)
    )
    output_folder.write_text(path, "".join(lines))


def _of_file(path: Path, wanted: set[str], *, dim: int | None, first: int) -> dict[str, np.ndarray]:
    seen: dict[str, int] = {}
    found: dict[str, np.ndarray] = {}
    for entry in vectors_file.entries(path, dim=dim):
        if entry.word in seen:
            before = seen[entry.word]
            raise InputError(
                f"{entry.where}: the word {entry.word!r} again, first in line {before}"
            )
        seen[entry.word] = entry.number
        if entry.word in wanted or len(seen) <= first:
            found[entry.word] = entry.vector()
    return found


def _of_module(path: Path, words: list[str], *, dim: int | None) -> dict[str, np.ndarray]:
    """A module's vectors, without those of all zeros: it has none for these words."""
    from model.sts_regression.data import modules

    vector_of = modules.word_vectors(path)
    rows = [vector_of(words[start : start + _CHUNK]) for start in range(0, len(words), _CHUNK)]
    table = np.concatenate(rows)
    if dim not in (None, table.shape[1]):
        raise InputError(f"{path}: {table.shape[1]} numbers a word; accepted: {dim}")
    bad = ~np.isfinite(table).all(axis=1)
    if bad.any():
        at = int(bad.argmax())
        value = table[at][~np.isfinite(table[at])][0]
        raise InputError(
            f"{path}: {value} in the vector of {words[at]!r}; accepted: finite numbers"
        )
    return {word: row for word, row in zip(words, table, strict=True) if row.any()}

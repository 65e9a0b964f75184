"""Files of word vectors in the text format of GloVe, fastText and word2vec.

A line is a word and its numbers between single spaces, in UTF-8, plain or `.gz`. The first one
says how many numbers; other words may contain spaces, as some in GloVe 840B do. A first line of two
whole numbers, of words and of their width, is a header. Of a repeated word the first vector counts.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from common.errors import InputError
from common.text_files import parse_lines

_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")


class Entry(NamedTuple):
    """A word, and its numbers, which are parsed when they are asked for."""

    word: str
    place: str  # the file and the line
    numbers: list[str] | np.ndarray

    def vector(self) -> np.ndarray:
        """The numbers, all finite: float32 [dim]."""
        try:
            with np.errstate(over="ignore"):
                vector = np.array(self.numbers, np.float64).astype(np.float32)
        except ValueError as error:
            raise InputError(f"{self.place}: {error}") from error
        if not np.isfinite(vector).all():
            raise InputError(f"{self.place}: a number of {self.word!r} is not finite in float32")
        return vector


def of_words(path: Path, words: Iterable[str]) -> dict[str, np.ndarray]:
    """Vectors of those of the words, as written and in lower case, that a file has."""
    wanted = {form for word in words for form in (word, word.lower())}
    found: dict[str, np.ndarray] = {}
    for entry in read(path):
        if entry.word in wanted and entry.word not in found:
            found[entry.word] = entry.vector()
    return found


def read(path: Path) -> Iterator[Entry]:
    """The words of a file, in its order."""
    number = words = dim = 0

    def entry(line: str) -> Entry | None:
        nonlocal number, words, dim
        number += 1
        line = line.rstrip(" \r")
        header = line.split() if number == 1 else []
        if len(header) == 2 and all(part.isdigit() for part in header):
            words, dim = map(int, header)
            return None
        dim = dim or line.count(" ")
        word, *numbers = line.rsplit(" ", dim)
        _, space, last = word.rpartition(" ")
        if not (word and dim == len(numbers) > 0) or (space and _NUMBER.fullmatch(last)):
            raise ValueError(f"{line[:40]!r}; accepted: a word and {dim} numbers")
        return Entry(word, f"{path}:{number}", numbers)

    yield from filter(None, parse_lines(path, entry, blank=True))
    if words and number <= words:
        raise InputError(f"{path}:{number}: the file ends here; its header says {words:,} words")

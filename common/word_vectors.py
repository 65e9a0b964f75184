"""Files of word vectors in the text format of GloVe, fastText and word2vec.

    for entry in word_vectors.read(Path("glove.840B.300d.txt.gz")):
        if entry.word in wanted:
            vectors[entry.word] = entry.vector()

A line is a word and its numbers between single spaces, in UTF-8, plain or `.gz`. The first one
says how many numbers; other words may contain spaces, as some in GloVe 840B do. A first line of two
whole numbers, of words and of their width, is a header.
"""

import gzip
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from common.errors import InputError, message_of

_NUMBER = re.compile(rb"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
_ERRORS = (ValueError, OSError, EOFError, zlib.error)


class Entry(NamedTuple):
    """A word, and its numbers, which are parsed when they are asked for."""

    word: str
    place: str
    """The file and the line."""
    numbers: list[bytes] | np.ndarray

    def vector(self) -> np.ndarray:
        """The numbers: float32 [dim].

        Raises:
          InputError: if one is not a finite number of float32.
        """
        try:
            with np.errstate(over="ignore"):
                vector = np.array(self.numbers, np.float64).astype(np.float32)
        except ValueError as error:
            raise InputError(f"{self.place}: {error}") from error
        if not np.isfinite(vector).all():
            raise InputError(f"{self.place}: a number of {self.word!r} is not finite in float32")
        return vector


def read(path: Path) -> Iterator[Entry]:
    """The words of a file, in its order.

    Raises:
      InputError: if the file cannot be read; names the line.
    """
    number = words = dim = 0
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            for number, raw in enumerate(file, start=1):
                line = raw.rstrip(b"\r\n ")
                header = line.split() if number == 1 else []
                if len(header) == 2 and all(part.isdigit() for part in header):
                    words, dim = map(int, header)
                    continue
                dim = dim or line.count(b" ")
                word, *numbers = line.rsplit(b" ", dim)
                _, space, last = word.rpartition(b" ")
                if (
                    not word
                    or not dim
                    or len(numbers) != dim
                    or (space and _NUMBER.fullmatch(last))
                ):
                    raise ValueError(f"{line[:40]!r}; accepted: a word and {dim} numbers")
                yield Entry(word.decode("utf-8"), f"{path}:{number}", numbers)
        if words and number <= words:
            raise ValueError(f"the file ends here; its header says {words:,} words")
    except _ERRORS as error:
        raise InputError(f"{path}:{number}: {message_of(error)}") from error

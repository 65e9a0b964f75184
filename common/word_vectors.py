"""Files of word vectors: GloVe's and fastText's text format, word2vec's text and binary formats.

    for entry in word_vectors.read(Path("glove.840B.300d.txt.gz")):
        if entry.word in wanted:
            vectors[entry.word] = entry.vector()

In the text formats a line is a word and its numbers between single spaces, in UTF-8; a word may
contain spaces, as some in GloVe 840B do. A first line of two whole numbers, of words and of their
width, is a header. A name that ends in `.bin` is of word2vec's binary format: the header, then of
each word its bytes, a space and little-endian float32. All may be compressed (`.gz`).
"""

import gzip
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast

import numpy as np

from common.errors import InputError, message_of

_NUMBER = re.compile(rb"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
_ERRORS = (ValueError, OSError, EOFError, zlib.error)
_LONGEST_WORD = 10_000


class Entry(NamedTuple):
    """A word, and its numbers, which are parsed when they are asked for."""

    word: str
    place: str
    """The file and the line or, in a binary file, the number of the word."""
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


def read(path: Path, *, dim: int | None = None) -> Iterator[Entry]:
    """The words of a file, in its order.

    Args:
      path: the file.
      dim: the width that the vectors must have; by default that of the first one.

    Raises:
      InputError: if the file cannot be read; names the line.
    """
    is_binary = ".bin" in path.suffixes[-2:]
    number = 0
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as opened:
            file = cast(BinaryIO, opened)
            for number, word, numbers in _binary(file, dim) if is_binary else _text(file, dim):
                yield Entry(word.decode("utf-8"), f"{path}:{number}", numbers)
    except InputError as error:
        raise InputError(f"{path}:{error}") from error
    except _ERRORS as error:
        raise InputError(f"{path}:{number}: {message_of(error)}") from error


def _text(file: BinaryIO, dim: int | None) -> Iterator[tuple[int, bytes, list[bytes]]]:
    number = words = 0
    for number, raw in enumerate(file, start=1):
        line = raw.rstrip(b"\r\n ")
        header = line.split() if number == 1 else []
        if len(header) == 2 and all(part.isdigit() for part in header):
            words = int(header[0])
            continue
        dim = dim or line.count(b" ")
        word, *numbers = line.rsplit(b" ", dim)
        _, space, last = word.rpartition(b" ")
        if not dim or not word or len(numbers) != dim or (space and _NUMBER.fullmatch(last)):
            raise InputError(f"{number}: {line[:40]!r}; accepted: a word and {dim} numbers")
        yield number, word, numbers
    if words and number <= words:
        raise InputError(f"{number}: the file ends here; its header says {words:,} words")


def _binary(file: BinaryIO, dim: int | None) -> Iterator[tuple[int, bytes, np.ndarray]]:
    header = file.readline(_LONGEST_WORD).split()
    if len(header) != 2 or not all(part.isdigit() for part in header):
        raise InputError("0: no header of word2vec's binary format")
    words, width = map(int, header)
    if dim not in (None, width):
        raise InputError(f"0: {width} numbers a word; accepted: {dim}")
    for number in range(1, words + 1):
        word = bytearray()
        while (byte := file.read(1)) not in (b" ", b"") and len(word) < _LONGEST_WORD:
            word += byte
        numbers = file.read(4 * width)
        if byte != b" " or len(numbers) != 4 * width:
            raise InputError(f"{number}: the file ends here; its header says {words:,} words")
        # word2vec ends each row with a line end, gensim does not.
        yield number, bytes(word).lstrip(b"\n"), np.frombuffer(numbers, "<f4")

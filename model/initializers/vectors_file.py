"""Files of word vectors: GloVe's and fastText's text formats, and word2vec's text and binary ones.

In the text formats each line is a word and its numbers, separated by single spaces, in UTF-8, plain
or `.gz`. A first line of two numbers (word2vec's and fastText's header) is skipped. A word may
contain spaces, as some in GloVe 840B do. A file whose name ends in `.bin` or `.bin.gz` is in
word2vec's binary format: the same header, then each word, a space and its numbers as little-endian
float32. A folder is one that `python -m model teacher` has written, with words as texts.

Numbers of a word are parsed when they are asked for: 2.2 million words of 300 numbers take a minute
to pass by.
"""

import gzip
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast

import numpy as np

from model.errors import InputError
from model.teacher import targets

_NUMBER = re.compile(rb"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
_NOT_FINITE = re.compile(rb" [-+]?(nan|inf|infinity)( |$)")
_LONGEST_WORD = 10_000
"""Bytes of a word in a binary file; more means that the file is of another kind."""


class Entry(NamedTuple):
    """A word and its numbers, not parsed yet."""

    word: str
    number: int
    """The line, or of a binary file the word's place, from 1."""
    where: str
    """The file and the line."""
    values: list[bytes] | np.ndarray
    """The numbers as text, or as a binary file has them."""

    def vector(self) -> np.ndarray:
        """The numbers: float32 [dim].

        Raises:
          InputError: if one is not a finite number that float32 can hold.
        """
        if isinstance(self.values, np.ndarray):
            row, texts = self.values.astype(np.float32), [b"%r" % value for value in self.values]
        else:
            texts = self.values
            for value in texts:
                if not _NUMBER.fullmatch(value):
                    raise InputError(
                        f"{self.where}: {value!r}; accepted: numbers such as -0.12 or 1e-3"
                    )
            with np.errstate(over="ignore"):
                row = np.array(texts, dtype=np.float64).astype(np.float32)
        if (beyond := ~np.isfinite(row)).any():
            number = texts[int(beyond.argmax())].decode()
            raise InputError(f"{self.where}: {number}; accepted: numbers that float32 can hold")
        return row


def entries(path: Path, *, dim: int | None = None) -> Iterator[Entry]:
    """The words of a file in their order.

    Args:
      path: a file in one of the formats, or a teacher's folder.
      dim: the width the vectors must have; by default that of the first one.

    Raises:
      InputError: if the file cannot be read or a line is not in the format; names it.
    """
    if path.is_dir():
        for number, (word, values) in enumerate(targets.read(path), start=1):
            yield Entry(word, number, f"{path}: word {number}", values)
        return
    if not path.is_file():
        raise InputError(f"{path}: no such file of word vectors")
    is_binary = ".bin" in path.suffixes[-2:]
    number = 0
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            found = _binary if is_binary else _text
            for entry in found(path, cast(BinaryIO, file), dim):
                number = entry.number
                yield entry
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(f"{path}: damaged gzip file after line {number} ({error})") from error


def _text(path: Path, file: BinaryIO, dim: int | None) -> Iterator[Entry]:
    words = number = 0
    for number, raw in enumerate(file, start=1):
        line = raw.rstrip(b"\r\n ")
        if number == 1 and len(line.split()) == 2 and all(map(_NUMBER.fullmatch, line.split())):
            first = line.split()[0]
            words = int(first) if first.isdigit() else 0
            continue
        dim = dim or line.count(b" ")
        where = f"{path}:{number}"
        word, values = _parts(line, dim=dim, where=where)
        yield Entry(word, number, where, values)
    if words and number <= words:
        raise InputError(
            f"{path}:{number + 1}: the file ends there; its first line says {words:,} words"
        )


def _binary(path: Path, file: BinaryIO, dim: int | None) -> Iterator[Entry]:
    header = file.readline(_LONGEST_WORD).split()
    if len(header) != 2 or not all(part.isdigit() for part in header):
        raise InputError(
            f"{path}: no header of word2vec's binary format: {b' '.join(header)[:40]!r}"
        )
    words, width = map(int, header)
    if dim not in (None, width):
        raise InputError(f"{path}: {width} numbers a word; accepted: {dim}")
    for number in range(1, words + 1):
        where = f"{path}: word {number}"
        name = _until_space(file, where=where)
        values = file.read(4 * width)
        if len(values) != 4 * width:
            raise InputError(f"{where}: the file ends there; its header says {words:,} words")
        yield Entry(_decoded(name, where=where), number, where, np.frombuffer(values, "<f4"))


def _until_space(file: BinaryIO, *, where: str) -> bytes:
    name = bytearray()
    while (byte := file.read(1)) != b" ":
        if not byte or len(name) > _LONGEST_WORD:
            raise InputError(f"{where}: no word and a space; is it word2vec's binary format?")
        name += byte
    return bytes(name).lstrip(b"\n")


def _parts(line: bytes, *, dim: int, where: str) -> tuple[str, list[bytes]]:
    """The word of a line, and its numbers as text."""
    word, *values = line.rsplit(b" ", dim)
    extra = word.rpartition(b" ")[2] if b" " in word else b""
    if dim < 1 or len(values) != dim or not word or _NUMBER.fullmatch(extra):
        raise InputError(
            f"{where}: {line.count(b' ')} numbers after the word; accepted: {dim}"
            if dim > 1
            else f"{where}: no word and numbers behind spaces: {line[:40]!r}"
        )
    text = _decoded(word, where=where)
    numbers = line[len(word) :].lower()
    if b"n" in numbers and (wrong := _NOT_FINITE.search(numbers)):
        value = wrong[0].strip().decode()
        raise InputError(f"{where}: {value} of the word {text!r}; accepted: finite numbers")
    return text, values


def _decoded(word: bytes, *, where: str) -> str:
    try:
        return word.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{where}: the word {word!r} is not UTF-8 ({error.reason})") from error

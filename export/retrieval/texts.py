"""Texts to index: read from files of lines (.txt) and of pairs (.tfrecord), then kept in one file.

texts.bin, offsets.npy     the concatenated texts, and the start of each
"""

import codecs
import glob
import gzip
import hashlib
import re
import unicodedata
import zlib
from array import array
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np
import tensorflow as tf

from model.data.tfrecords import reason_of
from model.errors import InputError
from model.tasks.response_selection import RESPONSE
from model.teacher.texts import TEXT, TFRECORD, kind_of

OFFSETS, TEXTS = "offsets.npy", "texts.bin"
_GZIP = ".gz"
_VISIBLE = re.compile(rb"[!-~]")


class Texts(NamedTuple):
    """Texts that stay on disk."""

    content: np.ndarray
    """uint8 [bytes]."""
    offsets: np.ndarray
    """int64 [texts + 1]."""

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def read(self, row: int) -> bytes:
        """The text of a row of the matrix."""
        return self.content[self.offsets[row] : self.offsets[row + 1]].tobytes()


def matching(patterns: Sequence[str | Path]) -> list[Path]:
    """The files that names and glob patterns match, each once, in the patterns' order.

    Raises:
      InputError: if a pattern matches nothing.
    """
    found: dict[Path, None] = {}
    for pattern in map(str, patterns):
        if not glob.has_magic(pattern) or Path(pattern).exists():
            found[Path(pattern)] = None
            continue
        names = glob.glob(pattern, recursive=True)  # noqa: PTH207  (Path.glob takes no absolute one)
        if not names:
            raise InputError(f"{pattern!r} matches no file of texts")
        found |= dict.fromkeys(map(Path, sorted(names)))
    return list(found)


def read(patterns: Sequence[str | Path], *, most: int) -> Iterator[bytes]:
    """The first texts of files, without blank ones.

    Raises:
      InputError: if a pattern matches nothing, or a file cannot be read.
    """
    return islice(chain.from_iterable(map(_texts, matching(patterns))), most)


def sha256(path: Path) -> str:
    """The SHA-256 of a file.

    Raises:
      InputError: if it cannot be read.
    """
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"{str(path)!r} cannot be read: {error}") from error


def append(folder: Path, paths: Sequence[Path], old: Texts | None) -> tuple[Texts, list[int]]:
    """Writes the texts of files behind old ones; all of them, and the number from each file.

    Raises:
      InputError: if a file cannot be read or holds no text.
    """
    offsets = array("q", old.offsets.tobytes() if old else [0])
    counts = []
    with (folder / TEXTS).open("wb") as file:
        if old:
            file.write(old.content.data)
        for path in paths:
            before = len(offsets)
            for text in _texts(path):
                offsets.append(offsets[-1] + len(text))
                file.write(text)
            counts.append(len(offsets) - before)
            if not counts[-1]:
                raise InputError(f"{str(path)!r} holds no text")
    np.save(folder / OFFSETS, np.frombuffer(offsets, np.int64))
    return open_texts(folder), counts


def open_texts(folder: Path) -> Texts:
    """The texts of an index."""
    return Texts(np.memmap(folder / TEXTS, np.uint8, "r"), np.load(folder / OFFSETS, "r"))


def _texts(path: Path) -> Iterator[bytes]:
    """The texts of a file, without blank ones."""
    kind = kind_of(path)
    if kind not in (TFRECORD, TEXT):
        raise InputError(
            f"{str(path)!r} does not say by its name how to read it; accepted: the responses of "
            f"pairs in {TFRECORD} and one text a line in {TEXT}, each with or without {_GZIP}"
        )
    lines = _of_pairs(path) if kind == TFRECORD else _lines(path)
    try:
        for line in lines:
            text = line.strip()
            if _VISIBLE.search(text) or _is_visible(text.decode(errors="replace")):
                yield text
    except (OSError, EOFError, zlib.error, tf.errors.OpError) as error:
        reason = reason_of(error) if isinstance(error, tf.errors.OpError) else error
        raise InputError(f"{str(path)!r} cannot be read: {reason}") from error


def _is_visible(text: str) -> bool:
    """Whether it has a character that is neither a space nor a control character."""
    return any(unicodedata.category(character)[0] not in "ZC" for character in text)


def _lines(path: Path) -> Iterator[bytes]:
    with _open_plain(path) as file:
        for number, line in enumerate(file, start=1):
            try:
                line.decode()
            except UnicodeDecodeError as error:
                raise InputError(f"{str(path)!r}, line {number}: {error}") from error
            yield line.removeprefix(codecs.BOM_UTF8) if number == 1 else line


def _open_plain(path: Path) -> BinaryIO:
    return gzip.open(path) if path.suffix == _GZIP else path.open("rb")  # type: ignore[return-value]


def _of_pairs(path: Path) -> Iterator[bytes]:
    compression = "GZIP" if path.suffix == _GZIP else ""
    for serialized in tf.data.TFRecordDataset(str(path), compression).batch(1000):
        (parsed,) = tf.io.parse_example(serialized, RESPONSE).values()
        yield from parsed.numpy()

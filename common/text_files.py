"""Text files, plain or .gz: what is parsed from each line, or from each row under a header."""

import gzip
import hashlib
import logging
import zlib
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TypeVar

from common.errors import InputError, message_of
from common.tables.delimited import TAB, Dialect, Line, Row, UnclosedQuoteError, position_of, rows

T = TypeVar("T")
_LOG = logging.getLogger(__name__)
_ERRORS = (ValueError, EOFError, gzip.BadGzipFile, zlib.error)
"""Of parsers, of text that is not UTF-8, and of damaged gzip files."""


@dataclass(frozen=True)
class Source:
    """Files that are read as one data set, and its name."""

    name: str
    files: tuple[Path, ...]

    def provenance(self) -> dict:
        """File names, and the SHA-256 of their bytes, one file after the other."""
        names = [path.name for path in self.files]
        file = names[0] if len(names) == 1 else f"{names[0]} ... {names[-1]}"
        return {"file": file, "files": names, "sha256": sha256(self.files)}


def sha256(paths: Sequence[Path]) -> str:
    """The SHA-256 of the bytes of files, one after the other."""
    digest = hashlib.sha256()
    for path in paths:
        with path.open("rb") as file:
            hashlib.file_digest(file, lambda: digest)
    return digest.hexdigest()


def unpacked_name(path: Path) -> str:
    """The name of a file without .gz."""
    return path.name.removesuffix(".gz")


def find(folder: Path, *patterns: str) -> list[Path]:
    """The files of a folder that match a pattern, sorted; each is there plain or as .gz."""
    names = {name for pattern in patterns for name in (pattern, f"{pattern}.gz")}
    found = {path for name in names for path in folder.glob(name)}
    packed = (path for path in found if path.suffix == ".gz")
    if twice := sorted(path for path in packed if path.with_suffix("") in found):
        raise InputError(f"{twice[0]}: the same as {twice[0].stem}; keep one of them")
    return sorted(found)


@contextmanager
def _lines(path: Path) -> Iterator[Iterator[str]]:
    """The lines of a file; an error inside becomes an InputError that names the last one read."""
    number = 0

    def decoded() -> Iterator[str]:
        nonlocal number
        for number, line in enumerate(file, start=1):
            yield line.decode("utf-8-sig" if number == 1 else "utf-8")

    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
        try:
            yield decoded()
        except _ERRORS as error:
            raise InputError(f"{path}:{max(number, 1)}: {message_of(error)}") from error


def parse_lines(path: Path, parse: Callable[[str], T], *, blank: bool = False) -> Iterator[T]:
    r"""Yields what `parse` makes of each line, blank ones too if asked, without `\n` or `\r\n`.

    Raises:
      InputError: if `parse` raises a ValueError, or the file is not UTF-8 or damaged; names the
        line.
    """
    with _lines(path) as lines:
        for line in lines:
            if blank or line.strip():
                yield parse(line.removesuffix("\n").removesuffix("\r"))


def parse_rows(
    path: Path,
    parse: Callable[[dict[str, str]], T],
    *,
    columns: Sequence[str],
    dialect: Dialect = Dialect(),  # noqa: B008
) -> Iterator[T]:
    """Yields what `parse` makes of the fields of each row by their names in the header.

    Args:
      path: the file, separated by commas if it is a .csv, else by tabs.
      parse: gets the fields of a row, the columns by these names; blank lines are no rows.
      columns: names that the header must have once.
      dialect: what quotes are.

    Raises:
      InputError: if the header lacks a column, a row cannot be read, or `parse` raises a
        ValueError; names the line.
    """
    number = 1
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            table = rows(_lines_of(file), dialect_of(path, dialect))
            header = next(table, Row(1, []))
            names = list(header.fields)
            for name in () if header.fault else columns:
                position = position_of(name, names)
                if names[position] != name:
                    _LOG.warning("%s: the column %r is read as %r", path, names[position], name)
                    names[position] = name
            for row in chain([header], table):
                number = row.number
                if row.fault:
                    raise ValueError(row.fault)
                if row is not header:
                    yield parse(dict(zip(names, row.fields, strict=True)))
    except UnclosedQuoteError as error:
        raise InputError(f"{path}:{error.line}: {error}") from error
    except _ERRORS as error:
        raise InputError(f"{path}:{number}: {message_of(error)}") from error


def dialect_of(path: Path, dialect: Dialect) -> Dialect:
    """A dialect with the delimiter that a file's name says."""
    return dialect._replace(delimiter="," if unpacked_name(path).endswith(".csv") else TAB)


def _lines_of(file: Iterable[bytes]) -> Iterator[Line]:
    for number, line in enumerate(file, start=1):
        content = line.removeprefix(BOM_UTF8) if number == 1 else line
        yield number, content.removesuffix(b"\n"), ""

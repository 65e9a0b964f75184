"""CSV and TSV files with a header: the values of named columns, row by row."""

import csv
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from evaluation.data.files import existing, numbered_lines
from evaluation.errors import InputError

DELIMITERS = (",", "\t", ";", "|")


def read(
    path: Path, columns: Sequence[str], *, quotes: bool = True
) -> Iterator[tuple[str, list[str]]]:
    """Yield (`path:line`, the values of `columns`) of each row; empty lines are skipped.

    The delimiter is the one of `DELIMITERS` with which the header has the most of the columns.

    Args:
      path: a UTF-8 file, plain or .gz, whose first line names the columns.
      columns: those to return, in this order.
      quotes: whether quotes enclose fields; otherwise they are part of the text.

    Raises:
      InputError: if there is no such file, the header lacks a column or has it twice, a row has
        another number of fields than the header, or a quote is not closed.
    """
    if not existing(path).is_file():
        raise InputError(f"{path}: not a regular file; a CSV or TSV file is accepted")
    _, first = next(numbered_lines(path), (1, ""))
    if "\r" in first:
        raise InputError(f"{path}:1: lines end with a carriage return; line feeds are accepted")
    if not first.strip():
        raise InputError(f"{path}:1: no header; the names of the columns are accepted there")
    found = {delimiter: _fields(first, delimiter, quotes=quotes) for delimiter in DELIMITERS}
    delimiter = max(DELIMITERS, key=lambda mark: len(set(columns) & set(found[mark])))
    names = found[delimiter]
    for name in columns:
        if names.count(name) != 1:
            there = "has no column" if name not in names else "has more than one column"
            given = sorted(found.values(), key=len)[-1]
            listed = ", ".join(map(repr, given))
            raise InputError(f"{path}:1: the header {there} {name!r}; its columns are {listed}")
    positions = [names.index(name) for name in columns]
    for number, row in _rows(path, delimiter, quotes=quotes):
        if number == 1 or not row:
            continue
        if len(row) != len(names):
            raise InputError(f"{path}:{number}: {len(row)} fields; the header has {len(names)}")
        yield f"{path}:{number}", [row[position] for position in positions]


def _fields(header: str, delimiter: str, *, quotes: bool) -> list[str]:
    return next(csv.reader([header], delimiter=delimiter, quoting=_quoting(quotes)), [])


def _rows(path: Path, delimiter: str, *, quotes: bool) -> Iterator[tuple[int, list[str]]]:
    """Yield (number of its first line, fields) of each row."""
    csv.field_size_limit(sys.maxsize)
    lines = (f"{line}\n" for _, line in numbered_lines(path))
    reader = csv.reader(lines, delimiter=delimiter, quoting=_quoting(quotes), strict=True)
    while True:
        number = reader.line_num + 1
        try:
            row = next(reader, None)
        except csv.Error as error:
            advice = "lines end with a line feed"
            if quotes and "new-line" not in str(error):
                advice = (
                    "a field in quotes ends with a quote and a delimiter; --no_quotes reads quotes "
                    "as text"
                )
            raise InputError(f"{path}:{number}: {error}; {advice}") from error
        if row is None:
            return
        yield number, row


def _quoting(quotes: bool):
    return csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE

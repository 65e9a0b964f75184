"""CSV and TSV by RFC 4180, or with quotes as text: a header, then rows of as many fields.

Python's `csv` reads them. It takes 0.9 microseconds for a row of 4 fields where pyarrow takes 0.5,
but says which line it does not understand, and the rest of the file can still be read.
"""

import csv
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import PurePath

from data_pipeline.sources.tables.rows import ROWS_A_BATCH, Rows, TableFormat, position_of
from data_pipeline.storage.filesystem import Tap
from data_pipeline.storage.inputs import InputFile, UnreadableFileError
from data_pipeline.storage.lines import COMPRESSIONS, MAX_LINE_BYTES, read_line_batches
from data_pipeline.storage.malformed_lines import KEPT_OF_TOO_LONG, MalformedLine

DELIMITERS = (",", "\t", ";", "|")
"""Tried on a header where no delimiter was given."""
MAX_FIELD_CHARACTERS = 1 << 20
"""A row with a longer field is malformed: a quote that is never closed must not take in the whole
file."""


def read_delimited(
    file: InputFile, names: Sequence[str], tap: Tap, form: TableFormat
) -> Iterator[Rows]:
    """Yields the fields of all rows; empty lines are no rows.

    Raises:
      UnreadableFileError: if the file cannot be opened, is truncated or corrupt, or its header
        lacks a field.
    """
    table = _Table(file, names, tap, form)
    positions = [position_of(name, table.header, file.path) for name in names]
    rows = Rows([], [], [])
    for number, row in table:
        if isinstance(row, MalformedLine):
            rows.malformed.append(row)
        else:
            rows.numbers.append(number)
            rows.values.append(tuple([row[position] for position in positions]))
        if rows.total >= ROWS_A_BATCH:
            yield rows
            rows = Rows([], [], [])
    yield rows


def read_header(file: InputFile, names: Sequence[str], form: TableFormat) -> list[str]:
    """The names of the fields.

    Raises:
      UnreadableFileError: if the file cannot be opened or has no header.
    """
    return _Table(file, names, Tap(), form).header


_Line = tuple[int, bytes, int]
"""Number, content, and the size of a line of which only the start was kept, or 0."""


class _Lines:
    """The lines of a file; those of the row that is being read can be read again."""

    def __init__(self, file: InputFile, tap: Tap):
        self._lines = (
            (batch.first_line + index, line, batch.too_long.get(index, 0))
            for batch in read_line_batches(file, tap)
            for index, line in enumerate(batch.lines)
        )
        self._again: deque[_Line] = deque()
        self.row: list[_Line] = []
        """What the row being read consists of so far."""

    def __iter__(self) -> "_Lines":
        return self

    def __next__(self) -> str:
        line = self._again.popleft() if self._again else next(self._lines)
        self.row.append(line)
        _, content, size = line
        if size:
            raise csv.Error(f"a line of {size} bytes; at most {MAX_LINE_BYTES} are read")
        return content.decode() + "\n"

    def put_back(self, lines: Sequence[_Line]) -> None:
        self._again.extendleft(reversed(lines))


class _Table:
    """Iterates over (number of the first line, fields or why there are none) of each row."""

    def __init__(self, file: InputFile, names: Sequence[str], tap: Tap, form: TableFormat):
        csv.field_size_limit(MAX_FIELD_CHARACTERS)
        self._path = file.path
        self._lines = _Lines(file, tap)
        self._width = 0
        self._delimiter = form.delimiter or self._find_delimiter(names)
        self._reader = csv.reader(
            self._lines,
            delimiter=self._delimiter,
            quoting=csv.QUOTE_MINIMAL if form.quotes else csv.QUOTE_NONE,
            strict=True,
        )
        _, header = next(self, (0, []))
        if isinstance(header, MalformedLine):
            raise UnreadableFileError(f"{file.path}: its header cannot be read: {header.reason}")
        self.header = [name.strip() for name in header]
        self._width = len(header)

    def _find_delimiter(self, names: Sequence[str]) -> str:
        """A tab for `.tsv`, else the one that makes most of the wanted names, then most fields."""
        suffixes = [suffix.lower() for suffix in PurePath(self._path).suffixes]
        if suffixes[-1:] == [".tsv"] or (
            suffixes[-2:-1] == [".tsv"] and suffixes[-1] in COMPRESSIONS
        ):
            return "\t"
        try:
            header = next(self._lines, "")
            fields = [next(csv.reader([header], delimiter=it), []) for it in DELIMITERS]
        except (csv.Error, UnicodeDecodeError):
            fields = [[]]  # whoever reads the header says what is wrong
        self._lines.put_back(self._lines.row)
        found = [(len({name.strip() for name in some} & {*names}), len(some)) for some in fields]
        return DELIMITERS[found.index(max(found))]

    def __iter__(self) -> "_Table":
        return self

    def __next__(self) -> tuple[int, list[str] | MalformedLine]:
        while True:
            self._lines.row.clear()
            try:
                row = next(self._reader)
                if len(self._lines.row) > 1 and self._are_rows():
                    raise csv.Error("a quote joins it with the next line, a row itself")
            except (csv.Error, UnicodeDecodeError) as error:
                # Lines that the row took in beyond its first are read again as rows of their own.
                self._lines.put_back(self._lines.row[1:])
                del self._lines.row[1:]
                return self._malformed(self._reason(error))
            if row and self._width not in (0, len(row)):
                return self._malformed(f"{len(row)} fields; the header has {self._width}")
            if row:
                return self._lines.row[0][0], row

    def _are_rows(self) -> bool:
        """Whether quotes joined lines that are rows by themselves; never so between commas.

        Prose has commas: a line of it inside quotes may look like a row.
        """
        delimiter = self._delimiter.encode()
        return delimiter != b"," and all(
            line.count(delimiter) == self._width - 1 > 0 for _, line, _ in self._lines.row
        )

    def _reason(self, error: csv.Error | UnicodeDecodeError) -> str:
        if isinstance(error, UnicodeDecodeError):
            return f"not UTF-8: {error}"
        hint = "; with --no_quotes, quotes are text" if b'"' in self._lines.row[0][1] else ""
        return f"{error}{hint}"

    def _malformed(self, reason: str) -> tuple[int, MalformedLine]:
        number, content = self._lines.row[0][0], b"\n".join(line for _, line, _ in self._lines.row)
        kept = content if len(content) <= MAX_FIELD_CHARACTERS else content[:KEPT_OF_TOO_LONG]
        return number, MalformedLine(self._path, number, kept, reason)

"""Rows of tables: of CSV and TSV for all packages, also of JSON lines and Parquet for local files.

Between tabs quotes are text, as most TSV files have them; between other delimiters they enclose
fields, in which delimiters and line breaks are text (RFC 4180). `--quotes` and `--escape` say
otherwise. Python's `csv` does the work; it says which row it does not understand, and the rest of
the file can still be read.
"""

import csv
import logging
from codecs import BOM_UTF8
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path, PurePath
from typing import Any, NamedTuple, TypeVar

import msgspec

from common.errors import InputError, message_of
from common.text_files import load_json, opened, parse_lines, unpacked_name

T = TypeVar("T")
_LOG = logging.getLogger(__name__)
JSON_LINES, PARQUET = (".jsonl", ".ndjson", ".json"), ".parquet"
MAX_FIELD_CHARACTERS = 1 << 20  # a row with a longer field cannot be read
MOST_LINES = 100  # of a field, unless `--quotes` is given: a stray quote must not take in rows
TAB = "\t"
RFC4180, NONE = "rfc4180", "none"
_HINT = "; --quotes and --escape say how quotes are read"
QUOTES: dict[str, Any] = {
    "help": "rfc4180: quotes enclose fields, of any length; none: quotes are text; default: none "
    f"between tabs, else rfc4180, with fields of at most {MOST_LINES} lines",
    "choices": (RFC4180, NONE),
}
ESCAPE: dict[str, Any] = {
    "help": r"the character that makes the next one text, such as \ for \"; quotes enclose fields",
    "metavar": "C",
}
"""The declarations of `--quotes` and `--escape`."""


class Dialect(NamedTuple):
    """How a file is read."""

    delimiter: str | None = None  # None for what the file's name says
    quotes: str | None = None  # whether they enclose fields; None for what the delimiter says
    escape: str | None = None  # what makes a quote behind it text, beside the quote itself
    columns: tuple[str, ...] | None = None  # the names of the columns of files without a header
    encoding: str | None = None  # of JSON lines, too, as Python names it; None for UTF-8

    @property
    def encloses(self) -> bool:
        """Whether quotes enclose fields."""
        if self.quotes is None:
            return self.delimiter != TAB or self.escape is not None
        return self.quotes == RFC4180


def check_escape(escape: str | None, *, quotes: str | None) -> None:
    """Refuses an escape that is no character of its own, or is given where quotes are text."""
    if escape is not None and (len(escape) != 1 or escape in '"\r\n'):
        raise InputError(f"--escape: {escape!r}; accepted: one character, other than a quote")
    if escape is not None and quotes == NONE:
        raise InputError(f"--escape: {escape!r}; accepted with --quotes {RFC4180}")


Line = tuple[int, bytes, str]
"""Number, content without its line feed, and why it cannot be read: only its start is here then."""


class Row(NamedTuple):
    """A row of a file, the header among them."""

    number: int  # of its first line
    fields: list[str]  # as many as the header has; none if it cannot be read
    fault: str = ""  # why it cannot be read
    raw: bytes = b""  # what cannot be read


class UnreadableRowError(ValueError):
    """A row cannot be read, or takes in the rest of the file; `line` is its first one."""

    def __init__(self, line: int, fault: str):
        super().__init__(fault)
        self.line = line


def rows(lines: Iterable[Line], dialect: Dialect) -> Iterator[Row]:
    """Yields the header and all rows; empty lines are no rows.

    A row is faulty if it cannot be read, has another number of fields than the header or repeats
    it, as where files were joined. Of one that cannot be read, the lines behind its first are read
    as rows of their own. An UnreadableRowError if a quote takes in too many lines.
    """
    csv.field_size_limit(MAX_FIELD_CHARACTERS)
    quoting: Any = csv.QUOTE_MINIMAL if dialect.encloses else csv.QUOTE_NONE
    of: Any = {"delimiter": dialect.delimiter or ",", "escapechar": dialect.escape}
    form = csv.reader([], quoting=quoting, strict=True, **of).dialect
    lines = iter(lines)
    again: deque[Line] = deque()
    header = list(map(_bare, dialect.columns or ()))
    if dialect.columns:
        yield Row(0, list(dialect.columns))
    while line := again.popleft() if again else next(lines, None):
        row = [line]
        fields, fault = _fields(row, form)
        inside = 0
        while fields is None and not fault:
            if (line := again.popleft() if again else next(lines, None)) is None:
                raise UnreadableRowError(row[0][0], f"a quote is not closed{_HINT}")
            row.append(line)
            # A quote that is not doubled may end one field and begin the next.
            may_end = b'"' in line[1].replace(b'""', b"")
            inside = 0 if may_end else inside + 1
            if inside >= MOST_LINES - 1 and dialect.quotes != RFC4180:
                fault = f"a quote encloses more than {MOST_LINES} lines{_HINT}"
                raise UnreadableRowError(row[0][0], fault)
            if may_end or line[2] or dialect.escape:
                fields, fault = _fields(row, form)
        if fault:
            again.extendleft(reversed(row[1:]))
            del row[1:]
        elif fields and header and len(fields) != len(header):
            named = "--columns" if dialect.columns else "the header"
            fault = f"{len(fields)} fields; {named} has {len(header)}"
        elif fields and header and header[0] in fields[0].casefold():
            fault = "the header again" if list(map(_bare, fields)) == header else ""
        if fault:
            yield Row(row[0][0], [], fault, b"\n".join(content for _, content, _ in row))
        elif fields:
            header = header or list(map(_bare, fields))
            yield Row(row[0][0], fields)


def _fields(row: Sequence[Line], form: Any) -> tuple[list[str] | None, str]:
    """The fields of a row; or why it cannot be read; or neither where lines of it are missing."""
    if fault := row[-1][2]:
        return None, fault
    try:
        return next(csv.reader([content.decode() + "\n" for _, content, _ in row], form)), ""
    except UnicodeDecodeError as error:
        return None, f"not UTF-8: {error}"
    except csv.Error as error:
        fault = str(error)
    if fault.startswith("new-line"):  # Python's advice is for programmers
        return None, r"\r without \n behind it; accepted: \n or \r\n at the end of lines"
    return None, "" if fault == "unexpected end of data" else f"{fault}{_HINT}"


def position_of(name: str, header: Sequence[str]) -> int:
    """The position of a column, by its name or else by its name in any case, without outer space.

    ValueError if there is none, or more than one.
    """
    found = [place for place, other in enumerate(header) if other == name]
    found = found or [place for place, other in enumerate(header) if _bare(other) == _bare(name)]
    if len(found) != 1:
        shown = ", ".join(map(repr, header[:20])) or "none"
        more = f", ... ({len(header):,} in all)" if len(header) > 20 else ""
        what = f"{len(found)} fields" if found else "no field"
        raise ValueError(f"{what} {name!r}; its fields are {shown}{more}")
    return found[0]


def _bare(name: str) -> str:
    """A name in lower case without outer white space and byte order marks."""
    return name.strip("\ufeff\u200b \t\r\n\xa0").casefold()


def parse_rows(
    path: Path,
    parse: Callable[[dict[str, Any]], T],
    *,
    columns: Mapping[str, Sequence[str]],
    dialect: Dialect = Dialect(),  # noqa: B008
) -> Iterator[T]:
    """Yields what `parse` makes of each row of a local file; an InputError names the row.

    `columns` says what each column may be called in a file, which has one of these names. `parse`
    gets the columns by our names, null and NaN as empty texts, beside the other fields of the row
    (none of Parquet). A .csv is separated by commas, other files with a header by tabs.
    """

    def parsed(row: dict[str, Any]) -> T:
        names, fields = list(row), dict(row)
        for name, given in columns.items():
            value = row[names[_position(names, given)]]
            if isinstance(value, bool | list | dict):
                raise ValueError(f"{name} is {value!r}; accepted: text or a number")
            # Null, or NaN, which pandas writes for it.
            fields[name] = "" if value is None or value != value else value
        return parse(fields)

    kind, number = PurePath(unpacked_name(path)).suffix, 1
    if kind in JSON_LINES:
        decode = msgspec.json.Decoder(dict[str, Any]).decode
        yield from parse_lines(path, lambda line: parsed(load_json(line.encode(), decode)))
        return
    try:
        table = _parquet(path, columns) if kind == PARQUET else _delimited(path, columns, dialect)
        for place, row in table:
            number = place
            yield parsed(row)
    except Exception as error:  # of any library
        if getattr(error, "filename", None):  # it names the file already
            raise
        number = getattr(error, "line", number)
        raise InputError(f"{path}:{number}: {message_of(error)}") from error


def _position(names: Sequence[str], given: Sequence[str]) -> int:
    """The position of a column that may have one of several names."""
    found = [name for name in given if name in names]
    if len(found) > 1:
        raise ValueError(f"columns {' and '.join(map(repr, found))}; accepted: one of them")
    return position_of(found[0] if found else given[0], names)


def _parquet(
    path: Path, columns: Mapping[str, Sequence[str]]
) -> Iterator[tuple[int, dict[str, Any]]]:
    import pyarrow.parquet  # few files need it

    with pyarrow.parquet.ParquetFile(path) as table:
        names = table.schema_arrow.names
        wanted = [names[_position(names, given)] for given in columns.values()]
        batches = (batch.to_pylist() for batch in table.iter_batches(columns=wanted))
        yield from enumerate(chain.from_iterable(batches), start=1)


def _delimited(
    path: Path, columns: Mapping[str, Sequence[str]], dialect: Dialect
) -> Iterator[tuple[int, dict[str, Any]]]:
    with opened(path) as file:
        numbered = enumerate(chain([next(file, b"").removeprefix(BOM_UTF8)], file), start=1)
        lines = ((number, line.removesuffix(b"\n"), "") for number, line in numbered)
        table = rows(lines, dialect_of(path, dialect))
        header = next(table, Row(1, []))
        for row in chain([header], table):
            if row.fault:
                raise UnreadableRowError(row.number, row.fault)
            if row is not header:
                yield row.number, dict(zip(header.fields, row.fields, strict=True))
                continue
            for column, given in columns.items():
                if (name := header.fields[_position(header.fields, given)]) not in given:
                    _LOG.warning("%s: the column %r is read as %r", path, name, column)


def dialect_of(path: Path, dialect: Dialect) -> Dialect:
    """A dialect with the delimiter that a file's name says, unless it has one."""
    by_name = "," if unpacked_name(path).endswith(".csv") else TAB
    return dialect._replace(delimiter=dialect.delimiter or by_name)

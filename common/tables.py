"""Rows of tables, CSV, TSV, JSON lines or Parquet, for all packages.

Between tabs quotes are text, as most TSV files have them; between other delimiters they enclose
fields, in which delimiters and line breaks are text (RFC 4180). `--quotes` and `--escape` say
otherwise. Python's `csv` does the work; it says which row it does not understand, and the rest of
the file can still be read.
"""

import csv
from codecs import BOM_UTF8
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path, PurePath
from typing import Any, NamedTuple, TypeVar

import msgspec

from common.errors import InputError, message_of
from common.text_files import load_json, opened, unpacked_name

T = TypeVar("T")
JSON_LINES, PARQUET = (".jsonl", ".ndjson", ".json"), ".parquet"
MAX_FIELD_CHARACTERS = 1 << 20  # a row with a longer field cannot be read
ROWS_A_BATCH = 5_000  # of Parquet in memory
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
Choose = Callable[[Sequence[str]], Sequence[str]]
"""The columns of a file -> those to read; a ValueError if one is missing."""


class Row(NamedTuple):
    """A row of a file."""

    number: int  # of its first line, or of a row of Parquet, from 1
    fields: dict[str, Any] = {}
    fault: str = ""  # why it cannot be read
    raw: bytes = b""  # what cannot be read


class UnreadableRowError(ValueError):
    """A header cannot be read, or a row takes in the rest of the file; `line` is its first one."""

    def __init__(self, line: int, fault: str):
        super().__init__(fault)
        self.line = line


def delimited_rows(lines: Iterable[Line], dialect: Dialect, choose: Choose) -> Iterator[Row]:
    """Yields the rows below the header, or all with `--columns`; empty lines are no rows.

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
    if header := list(dialect.columns or ()):
        choose(header)
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
        elif fields and header and header[0] in fields[0]:
            fault = "the header again" if _names(fields) == header else ""
        if fault and not header:
            raise UnreadableRowError(row[0][0], fault)
        if fault:
            yield Row(row[0][0], {}, fault, b"\n".join(content for _, content, _ in row))
        elif fields and header:
            yield Row(row[0][0], dict(zip(header, fields, strict=True)))
        elif fields:
            choose(header := _names(fields))
    if not header:
        choose(header)


def _names(fields: Iterable[str]) -> list[str]:
    """The names in a header without outer white space and byte order marks."""
    return [name.strip("\ufeff\u200b \t\r\n\xa0") for name in fields]


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


def json_rows(lines: Iterable[Line], load: Callable[[bytes], Any]) -> Iterator[Row]:
    """Yields the objects of JSON lines; empty lines are no rows."""
    for number, line, fault in lines:
        if line and not line.isspace():
            found = fault or _object(line, load)
            if isinstance(found, dict):
                yield Row(number, found)
            else:
                yield Row(number, {}, f"{found}; accepted: an object a line", line)


def _object(line: bytes, load: Callable[[bytes], Any]) -> dict[str, Any] | str:
    """The object in a line; or why it cannot be read."""
    try:
        record = load_json(line, load)
    except Exception as error:  # of any parser
        return str(error)
    return record if isinstance(record, dict) else f"not a JSON object but {type(record).__name__}"


def parquet_columns(table: Any, choose: Choose) -> Iterator[dict[str, list[Any]]]:
    """Yields the columns of a `pyarrow.parquet.ParquetFile`, some thousand rows at a time."""
    wanted = list(dict.fromkeys(choose(table.schema_arrow.names)))
    for batch in table.iter_batches(ROWS_A_BATCH, columns=wanted, use_threads=False):
        yield dict(zip(batch.schema.names, map(_values, batch.columns), strict=True))


def parquet_rows(batches: Iterable[dict[str, list[Any]]]) -> Iterator[Row]:
    """The rows of such columns."""
    number = 0
    for columns in batches:
        for values in zip(*columns.values(), strict=True):
            number += 1
            yield Row(number, dict(zip(columns, values, strict=True)))


def _values(column: Any) -> list[Any]:
    """The values of a column; times are cut to the microseconds that Python's have."""
    import pyarrow as pa  # few files need it

    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.timestamp("us", column.type.tz), safe=False)
    return column.to_pylist()


def column_of(given: Sequence[str], columns: Iterable[str]) -> str:
    """The column that has one of some names; ValueError if none has, or several have."""
    found = [name for name in columns if name in given]
    if len(found) == 1:
        return found[0]
    names = list(columns)
    shown = ", ".join(map(repr, names[:20])) or "none"
    more = f", ... ({len(names):,} in all)" if len(names) > 20 else ""
    several = f"{len(found)} fields {' and '.join(map(repr, dict.fromkeys(found)))}"
    what = several if found else f"no field {given[0]!r}"
    raise ValueError(f"{what}; its fields are {shown}{more}")


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

    def choose(there: Iterable[str]) -> list[str]:
        return [column_of(given, there) for given in columns.values()]

    number = 1
    try:
        for row in _rows_of(path, dialect, choose):
            number = row.number
            if row.fault:
                raise ValueError(row.fault)
            fields = dict(row.fields)
            for name, column in zip(columns, choose(row.fields), strict=True):
                value = row.fields[column]
                if isinstance(value, bool | list | dict):
                    raise ValueError(f"{name} is {value!r}; accepted: text or a number")
                # Null, or NaN, which pandas writes for it.
                fields[name] = "" if value is None or value != value else value
            yield parse(fields)
    except Exception as error:  # of any library
        if getattr(error, "filename", None):  # it names the file already
            raise
        number = getattr(error, "line", number)
        raise InputError(f"{path}:{number}: {message_of(error)}") from error


def _rows_of(path: Path, dialect: Dialect, choose: Choose) -> Iterator[Row]:
    kind = PurePath(unpacked_name(path)).suffix
    if kind == PARQUET:
        import pyarrow.parquet

        with pyarrow.parquet.ParquetFile(path) as table:
            yield from parquet_rows(parquet_columns(table, choose))
        return
    with opened(path) as file:
        numbered = enumerate(chain([next(file, b"").removeprefix(BOM_UTF8)], file), start=1)
        lines = ((number, line.removesuffix(b"\n"), "") for number, line in numbered)
        if kind in JSON_LINES:
            yield from json_rows(lines, msgspec.json.Decoder(dict[str, Any]).decode)
        else:
            yield from delimited_rows(lines, dialect_of(path, dialect), choose)


def dialect_of(path: Path, dialect: Dialect) -> Dialect:
    """A dialect with the delimiter that a file's name says, unless it has one."""
    by_name = "," if unpacked_name(path).endswith(".csv") else TAB
    return dialect._replace(delimiter=dialect.delimiter or by_name)

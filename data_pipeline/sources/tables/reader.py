"""A file of any accepted format -> rows with the wanted fields; its name says the format.

A field of an object inside another, or of a struct, has a dotted name; a number in it names an
element of a list.
"""

import re
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import chain, count, islice, repeat
from pathlib import Path
from typing import Any

import msgspec
import orjson
import pyarrow as pa
import pyarrow.parquet

from common.errors import InputError, message_of
from common.tables import (
    JSON_LINES,
    MAX_FIELD_CHARACTERS,
    PARQUET,
    Dialect,
    Line,
    Row,
    UnreadableRowError,
    dialect_of,
    position_of,
    rows,
)
from common.text_files import load_json
from data_pipeline.storage.filesystem import Tap
from data_pipeline.storage.inputs import InputFile, UnreadableFileError
from data_pipeline.storage.lines import (
    COMPRESSIONS,
    KEPT_OF_TOO_LONG,
    MalformedLine,
    plain_suffix,
    read_line_batches,
)

DELIMITED = (".csv", ".tsv")
ROWS_A_BATCH = 5_000
MISSING = msgspec.UNSET  # the value of a field that a row does not have
SKIPPED = "skipped"
"""The role, and the field, of the rule by which a format drops a message because of its kind."""
NOTE = "--input: "
_QUOTES = f"{NOTE}some fields are in quotes and have doubled quotes: --quotes rfc4180 reads them"
_ENCLOSED = re.compile(r'"(?:[^"]|"")*""(?:[^"]|"")*"')
_FORM = Dialect()
_BUFFER_BYTES = 1 << 20
Found = tuple[int, Any] | MalformedLine  # a row and its number, or what is none
_UNREADABLE = (pa.ArrowException, OSError, ValueError, KeyError, OverflowError)
"""Also for values that Python cannot hold, such as the year 10000 or an unknown time zone."""


@dataclass
class Rows:
    """Consecutive rows of one file."""

    path: str
    numbers: list[int] = field(default_factory=list)
    """Where each row is in the file, from 1: its first line, or its row of a Parquet file."""
    values: list[tuple[Any, ...]] = field(default_factory=list)
    """The wanted fields of each row, in the order asked for; `MISSING` where it has none."""
    malformed: list[MalformedLine] = field(default_factory=list)
    """Rows that could not be read; they are not in `values`."""
    notes: set[str] = field(default_factory=set)  # what to warn of in the file; begin with `NOTE`

    @property
    def total(self) -> int:
        """How many rows were read, malformed ones included."""
        return len(self.values) + len(self.malformed)


def suffix_of(path: str, form: Dialect = _FORM) -> str:
    """The suffix that says a file's format, in lower case; without it a delimiter says CSV."""
    suffix = plain_suffix(path)
    if suffix in (*JSON_LINES, *DELIMITED, PARQUET):
        return suffix
    if form.delimiter is not None:
        return ".csv"
    raise InputError(
        f"--input: {path!r}; accepted: names that end in {', '.join(JSON_LINES + DELIMITED)}, "
        f"plain or with {', '.join(COMPRESSIONS)} behind it, or in {PARQUET}"
    )


def in_batches(path: str, found: Iterable[Found | str]) -> Iterator[Rows]:
    """The rows of a file, and notes, some thousands a batch; at least one, which may be empty."""
    found = iter(found)
    while True:
        chunk = list(islice(found, ROWS_A_BATCH))
        found_rows: list[Any] = [each for each in chunk if type(each) is tuple]
        malformed = [each for each in chunk if isinstance(each, MalformedLine)]
        notes = {each for each in chunk if isinstance(each, str)}
        numbers, values = ([row[place] for row in found_rows] for place in (0, 1))
        yield Rows(path, numbers, values, malformed, notes)
        if len(chunk) < ROWS_A_BATCH:
            return


def read_rows(
    file: InputFile, names: Sequence[str], *, tap: Tap, form: Dialect = _FORM
) -> Iterator[Rows]:
    """Yields the fields of these names of all rows of a file, in its order, in bounded memory.

    An InputError if the file's name says no accepted format; an UnreadableFileError if the file
    cannot be opened, is truncated or corrupt, lacks a field of CSV or Parquet, or a quote takes in
    too many lines.
    """
    suffix = suffix_of(file.path, form)
    if suffix == PARQUET:
        return _read_parquet(file, names)
    if suffix in JSON_LINES:
        return in_batches(file.path, _fields_of_lines(file, names, tap, form.encoding))
    return in_batches(file.path, _read_delimited(file, names, tap, dialect_of(Path(suffix), form)))


def field_names(file: InputFile, *, form: Dialect = _FORM) -> set[str]:
    """The names of the fields of a file; of JSON lines, those of the first objects."""
    suffix = suffix_of(file.path, form)
    if suffix == PARQUET:
        with _parquet(file) as table:
            return {*table.schema_arrow.names}
    batch = next(read_line_batches(file), None)
    lines = batch.lines if batch else [b""]
    if suffix not in JSON_LINES:
        names = lines[0].decode(errors="replace").split(dialect_of(Path(suffix), form).delimiter)
        return {*map(str.strip, names)}
    found: set[str] = set()
    for line in lines:
        with suppress(ValueError, AttributeError):
            found |= orjson.loads(line).keys()
    return found


def json_lines(file: InputFile, tap: Tap, encoding: str | None = None) -> Iterator[Found]:
    """The objects of all lines; empty lines are no rows."""
    for batch in read_line_batches(file, tap, encoding=encoding):
        for index, line in enumerate(batch.lines):
            if not line or line.isspace():
                continue
            try:
                record = load_json(line, orjson.loads)
                if not isinstance(record, dict):
                    raise ValueError(f"not a JSON object but {type(record).__name__}")
            except ValueError as error:
                yield batch.malformed(index, line, f"{error}; accepted: an object a line")
            else:
                yield batch.first_line + index, record


def _fields_of_lines(
    file: InputFile, names: Sequence[str], tap: Tap, encoding: str | None
) -> Iterator[Found]:
    getters = list(map(getter, names))
    for found in json_lines(file, tap, encoding):
        if isinstance(found, MalformedLine):
            yield found
        else:
            yield found[0], tuple([get(found[1]) for get in getters])


def getter(name: str) -> Callable[[dict[str, Any]], Any]:
    """A function of an object that returns its field of a plain or dotted name, or `MISSING`.

    A field whose own name has the dots comes before fields of inner objects.
    """
    path = name.split(".")

    def get(record: Any) -> Any:
        return record[name] if name in record else _inner(record, path)

    return get if len(path) > 1 else lambda record: record.get(name, MISSING)


def _inner(value: Any, path: Sequence[str]) -> Any:
    """The field or element of a value at a path, or `MISSING`; elements count from 0."""
    for part in path:
        if isinstance(value, dict) and part in value:
            value = value[part]
        elif isinstance(value, list) and part in map(str, range(len(value))):
            value = value[int(part)]
        else:
            return MISSING
    return value


def _read_delimited(
    file: InputFile, names: Sequence[str], tap: Tap, form: Dialect
) -> Iterator[Found | str]:
    """The fields of all rows, found by the header; empty lines are no rows."""
    lines = _lines(file, tap, form.encoding)
    try:
        table = rows(lines, form)
        header = next(table, Row(1, []))
        if header.fault:
            hint = "; --encoding names another" if "UTF-8" in header.fault else ""
            said = f"its header cannot be read: {header.fault}{hint}"
            raise UnreadableFileError(f"{file.path}: {said}")
        positions, notes = _positions_of(names, header.fields, file.path)
        yield from notes
        by_default = form.quotes is None and not form.encloses
        for row in table:
            if row.fault:
                kept = row.raw[:MAX_FIELD_CHARACTERS]
                yield MalformedLine(file.path, row.number, kept, row.fault)
            else:
                values = tuple([row.fields[position] for position in positions])
                if by_default and any(map(_ENCLOSED.fullmatch, values)):
                    yield _QUOTES
                yield row.number, values
    except UnreadableRowError as error:
        raise UnreadableFileError(f"{file.path}: line {error.line}: {error}") from error
    finally:
        lines.close()  # an error holds it


def _lines(file: InputFile, tap: Tap, encoding: str | None) -> Generator[Line]:
    for batch in read_line_batches(file, tap, encoding=encoding):
        faults = chain([batch.malformed(0, b"", "").reason], repeat(""))  # of one that is too long
        yield from zip(count(batch.first_line), batch.lines, faults)


def _positions_of(
    names: Sequence[str], header: Sequence[str], path: str
) -> tuple[list[int], set[str]]:
    """The positions of fields, each there once, and which have other names in the file."""
    try:
        positions = [position_of(name, header) for name in names]
    except ValueError as error:
        raise UnreadableFileError(f"{path}: {error}") from error
    others = {
        f"{NOTE}the field {header[position]!r} is read as {name!r}"
        for name, position in zip(names, positions, strict=True)
        if header[position] != name
    }
    return positions, others


def _read_parquet(file: InputFile, names: Sequence[str]) -> Iterator[Rows]:
    """The fields of all rows; row groups are read a batch at a time."""
    first = 1
    with _parquet(file) as table:
        header = table.schema_arrow.names
        outer = [name if name in header else name.partition(".")[0] for name in names]
        positions, notes = _positions_of(outer, header, file.path)
        paths = [
            (header[position], name[len(column) + 1 :].split(".") if name != column else [])
            for name, column, position in zip(names, outer, positions, strict=True)
        ]
        wanted = list({column: None for column, _ in paths})
        for batch in table.iter_batches(ROWS_A_BATCH, columns=wanted, use_threads=False):
            columns = {name: _values(batch.column(name)) for name in wanted}
            values = [
                [_inner(value, inner) for value in columns[name]] if inner else columns[name]
                for name, inner in paths
            ]
            numbers = list(range(first, first + batch.num_rows))
            yield Rows(file.path, numbers, list(zip(*values, strict=True)), notes={*notes})
            first += batch.num_rows


def _values(column: pa.Array) -> list[Any]:
    if pa.types.is_timestamp(column.type):  # Python's times have microseconds
        column = column.cast(pa.timestamp("us", column.type.tz), safe=False)
    return column.to_pylist()


@contextmanager
def _parquet(file: InputFile) -> Iterator[Any]:
    """The table of a Parquet file; an UnreadableFileError also if what is read inside fails."""
    try:
        with closing(file.open()) as stream:
            # Beam's streams lack methods that pyarrow asks for; PythonFile adds them. Without a
            # buffer the columns of a row group, often all rows, are read as a whole.
            yield pyarrow.parquet.ParquetFile(
                pa.PythonFile(stream, mode="r"),
                pre_buffer=False,
                buffer_size=_BUFFER_BYTES,
                page_checksum_verification=True,
            )
    except _UNREADABLE as error:
        raise UnreadableFileError(f"{file.path}: cannot be read: {message_of(error)}") from error


def as_raw(value: Any) -> bytes:
    """A record that is none, as its dead letter shows it."""
    try:
        raw = orjson.dumps(value, default=str, option=orjson.OPT_NON_STR_KEYS)
    except orjson.JSONEncodeError:  # nested deeper than orjson writes
        raw = repr(value).encode(errors="backslashreplace")
    return raw[:KEPT_OF_TOO_LONG]

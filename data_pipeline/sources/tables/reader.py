"""A file of any accepted format -> rows with the wanted fields; its name says the format.

A field of an object inside another, or of a struct, has a dotted name; a number in it names an
element of a list.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet

from common.errors import InputError, message_of
from common.tables.delimited import TAB, Dialect
from common.text_files import load_json
from data_pipeline.sources.tables.delimited import read_delimited
from data_pipeline.sources.tables.rows import MISSING, ROWS_A_BATCH, Rows, positions_of
from data_pipeline.storage.filesystem import Tap
from data_pipeline.storage.inputs import InputFile, UnreadableFileError
from data_pipeline.storage.lines import COMPRESSIONS, plain_suffix, read_line_batches

JSON_LINES = (".jsonl", ".ndjson", ".json")
DELIMITED = (".csv", ".tsv")
PARQUET = ".parquet"
_FORM = Dialect()
_BUFFER_BYTES = 1 << 20
_UNREADABLE = (pa.ArrowException, OSError, ValueError, KeyError, OverflowError)
"""Also for values that Python cannot hold, such as the year 10000 or an unknown time zone."""


def suffix_of(path: str, form: Dialect = _FORM) -> str:
    """The suffix that says a file's format, in lower case; without it a delimiter says CSV.

    Raises:
      InputError: if nothing says an accepted format.
    """
    suffix = plain_suffix(path)
    if suffix in (*JSON_LINES, *DELIMITED, PARQUET):
        return suffix
    if form.delimiter is not None:
        return ".csv"
    raise InputError(
        f"--input: {path!r}; accepted: names that end in {', '.join(JSON_LINES + DELIMITED)}, "
        f"plain or with {', '.join(COMPRESSIONS)} behind it, or in {PARQUET}"
    )


def read_rows(
    file: InputFile, names: Sequence[str], *, tap: Tap, form: Dialect = _FORM
) -> Iterator[Rows]:
    """Yields the wanted fields of all rows of a file, in its order, in bounded memory.

    Args:
      file: JSON lines, CSV or TSV, plain or compressed, or Parquet.
      names: of the fields; a dotted name is a field of an inner object, or an element of a list.
      tap: what a file of lines is read through.
      form: how CSV is read.

    Raises:
      InputError: if the file's name says no accepted format.
      UnreadableFileError: if the file cannot be opened, is truncated or corrupt, or, as CSV or
        Parquet, lacks a field.
    """
    suffix = suffix_of(file.path, form)
    if suffix in JSON_LINES:
        yield from _read_json_lines(file, names, tap, form.encoding)
    elif suffix == PARQUET:
        yield from _read_parquet(file, names)
    else:
        delimiter = form.delimiter or (TAB if suffix == ".tsv" else ",")
        yield from read_delimited(file, names, tap, dialect=form._replace(delimiter=delimiter))


def field_names(file: InputFile, *, form: Dialect = _FORM) -> set[str]:
    """The names of the fields of a file; of JSON lines, those of the first objects."""
    suffix = suffix_of(file.path, form)
    if suffix == PARQUET:
        with _parquet(file) as table:
            return {*table.schema_arrow.names}
    batch = next(read_line_batches(file), None)
    lines = batch.lines if batch else [b""]
    if suffix not in JSON_LINES:
        delimiter = form.delimiter or (TAB if suffix == ".tsv" else ",")
        return {*map(str.strip, lines[0].decode(errors="replace").split(delimiter))}
    names: set[str] = set()
    for line in lines:
        with suppress(ValueError, AttributeError):
            names |= orjson.loads(line).keys()
    return names


def _read_json_lines(
    file: InputFile, names: Sequence[str], tap: Tap, encoding: str | None
) -> Iterator[Rows]:
    """Yields the fields of all lines, each an object; empty lines are no rows."""
    getters = list(map(getter, names))
    rows = Rows(file.path, [], [], [])
    for batch in read_line_batches(file, tap, encoding=encoding):
        for index, line in enumerate(batch.lines):
            if not line or line.isspace():
                continue
            try:
                record = load_json(line, orjson.loads)
                if not isinstance(record, dict):
                    raise ValueError(f"not a JSON object but {type(record).__name__}")
            except ValueError as error:
                reason = f"{error}; accepted: an object a line"
                rows.malformed.append(batch.malformed(index, line, reason))
            else:
                rows.numbers.append(batch.first_line + index)
                rows.values.append(tuple([get(record) for get in getters]))
            if rows.total == ROWS_A_BATCH:
                yield rows
                rows = Rows(file.path, [], [], [])
    yield rows


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


def _read_parquet(file: InputFile, names: Sequence[str]) -> Iterator[Rows]:
    """Yields the columns of all rows; row groups are read a batch at a time."""
    first = 1
    with _parquet(file) as table:
        header = list(_columns_of(table.schema_arrow))
        # A dotted name may be of an element of a list.
        outer = [
            max((of for of in header if f"{name}.".startswith(f"{of}.")), key=len, default=name)
            for name in names
        ]
        elements = [name[len(column) + 1 :] for name, column in zip(names, outer, strict=True)]
        positions, notes = positions_of(outer, header, file.path)
        names = [header[position] for position in positions]
        columns = table.schema_arrow.names
        paths = [[name] if name in columns else name.split(".") for name in names]
        wanted = list(dict.fromkeys(names))
        for batch in table.iter_batches(ROWS_A_BATCH, columns=wanted, use_threads=False):
            values = [_column(batch, path).to_pylist() for path in paths]
            values = [
                [_inner(value, inner.split(".")) for value in column] if inner else column
                for column, inner in zip(values, elements, strict=True)
            ]
            numbers = list(range(first, first + batch.num_rows))
            yield Rows(file.path, numbers, list(zip(*values, strict=True)), [], notes)
            first += batch.num_rows


@contextmanager
def _parquet(file: InputFile) -> Iterator[Any]:
    """The table of a Parquet file.

    Raises:
      UnreadableFileError: if it cannot be opened, or what is read inside fails.
    """
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


def _columns_of(fields: Any, before: str = "") -> Iterator[str]:
    """The names of columns; of structs, the dotted names of their fields."""
    for field in fields:
        if pa.types.is_struct(field.type):
            yield from _columns_of(field.type, f"{before}{field.name}.")
        else:
            yield f"{before}{field.name}"


def _column(batch: pa.RecordBatch, path: Sequence[str]) -> pa.Array:
    column = batch.column(path[0])
    if len(path) > 1:
        column = pc.struct_field(column, path[1:])
    if pa.types.is_timestamp(column.type) and column.type.unit == "ns":
        # Python's times have microseconds.
        return column.cast(pa.timestamp("us", column.type.tz), safe=False)
    return column

"""Parquet: rows of typed columns; a column of a struct has a dotted name."""

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any

import pyarrow as pa
import pyarrow.compute
import pyarrow.parquet

from data_pipeline.sources.tables.delimited import no_field, require_once
from data_pipeline.sources.tables.rows import ROWS_A_BATCH, Rows
from data_pipeline.storage.inputs import InputFile, UnreadableFileError

_BUFFER_BYTES = 1 << 20


def read_parquet(file: InputFile, names: Sequence[str]) -> Iterator[Rows]:
    """Yields the columns of all rows; row groups are read a batch at a time.

    Raises:
      UnreadableFileError: if the file cannot be opened, is not a Parquet file, lacks a column, or
        has a value that Python cannot hold, such as text that is not UTF-8 or the year 10000.
    """
    first = 1
    with _open(file) as table:
        paths = [_path_of(name, table.schema_arrow, file.path) for name in names]
        columns = list(dict.fromkeys(".".join(path) for path in paths))
        for batch in table.iter_batches(ROWS_A_BATCH, columns=columns, use_threads=False):
            where = f"{file.path}: rows {first:,} to {first + batch.num_rows - 1:,}"
            values = [_values(batch, path, where) for path in paths]
            rows = list(zip(*values, strict=True))
            yield Rows(list(range(first, first + len(rows))), rows, [])
            first += len(rows)


def read_schema(file: InputFile) -> list[str]:
    """The names of all columns, dotted for those of structs.

    Raises:
      UnreadableFileError: if the file cannot be opened or is not a Parquet file.
    """
    with _open(file) as table:
        return _names(table.schema_arrow)


@contextmanager
def _open(file: InputFile) -> Iterator[pyarrow.parquet.ParquetFile]:
    try:
        # Beam's streams lack methods that pyarrow asks for; PythonFile adds them.
        with closing(file.open()) as stream:
            # Without a buffer the columns of a row group, often all rows, are read as a whole.
            yield pyarrow.parquet.ParquetFile(
                pa.PythonFile(stream, mode="r"), pre_buffer=False, buffer_size=_BUFFER_BYTES
            )
    except (pa.ArrowException, OSError) as error:
        message = " ".join(str(error).split())
        raise UnreadableFileError(f"{file.path}: truncated or corrupt: {message}") from error


def _names(fields: Any, prefix: str = "") -> list[str]:
    names = []
    for field in fields:
        if pa.types.is_struct(field.type):
            names += _names(field.type, f"{prefix}{field.name}.")
        else:
            names.append(f"{prefix}{field.name}")
    return names


def _path_of(name: str, schema: pa.Schema, path: str) -> list[str]:
    """A column of exactly this name, else a column inside structs."""
    if name in schema.names:
        require_once(path, name, schema.names)
        return [name]
    names, parts = _names(schema), name.split(".")
    if name not in names:
        raise UnreadableFileError(no_field(path, name, names))
    require_once(path, name, names)
    require_once(path, parts[0], schema.names)
    return parts


def _values(batch: pa.RecordBatch, path: Sequence[str], where: str) -> list[Any]:
    try:
        return _column(batch, path).to_pylist()
    except KeyError as error:  # of which those of time zones are
        reason = f"unknown time zone {error.args[0]!r}"
        raise UnreadableFileError(f"{where}: column {'.'.join(path)!r}: {reason}") from error
    except (OverflowError, ValueError) as error:  # of which UnicodeDecodeError is one
        raise UnreadableFileError(f"{where}: column {'.'.join(path)!r}: {error}") from error


def _column(batch: pa.RecordBatch, path: Sequence[str]) -> pa.Array:
    column = batch.column(batch.schema.get_field_index(path[0]))
    for name in path[1:]:
        column = pa.compute.struct_field(column, name)
    if pa.types.is_timestamp(column.type) and column.type.unit == "ns":
        # Python's times have microseconds, ISO 8601's as many digits as there are.
        microseconds = column.cast(pa.timestamp("us", column.type.tz), safe=False)
        is_exact = microseconds.cast(column.type).equals(column)
        return microseconds if is_exact else column.cast(pa.string())
    return column

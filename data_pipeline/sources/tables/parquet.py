"""Parquet: rows of typed columns; a column of a struct has a dotted name."""

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any

import pyarrow as pa
import pyarrow.compute
import pyarrow.parquet

from data_pipeline.sources.tables.rows import ROWS_A_BATCH, Rows, position_of
from data_pipeline.storage.inputs import InputFile, UnreadableFileError

_BUFFER_BYTES = 1 << 20
_UNREADABLE = (pa.ArrowException, OSError, ValueError, KeyError, OverflowError)
"""Also for values that Python cannot hold, such as the year 10000 or an unknown time zone."""


def read_parquet(file: InputFile, names: Sequence[str]) -> Iterator[Rows]:
    """Yields the columns of all rows; row groups are read a batch at a time.

    Raises:
      UnreadableFileError: if the file cannot be opened, is not a Parquet file, lacks a column, or
        has a value that Python cannot hold.
    """
    first = 1
    with _open(file) as table:
        paths = [_path_of(name, table.schema_arrow, file.path) for name in names]
        columns = list(dict.fromkeys(".".join(path) for path in paths))
        for batch in table.iter_batches(ROWS_A_BATCH, columns=columns, use_threads=False):
            values = [_column(batch, path).to_pylist() for path in paths]
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
    except _UNREADABLE as error:
        message = " ".join(str(error).split())
        raise UnreadableFileError(f"{file.path}: cannot be read: {message}") from error


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
    parts = [name] if name in schema.names else name.split(".")
    if len(parts) > 1:
        position_of(name, _names(schema), path)
    position_of(parts[0], schema.names, path)
    return parts


def _column(batch: pa.RecordBatch, path: Sequence[str]) -> pa.Array:
    column = batch.column(batch.schema.get_field_index(path[0]))
    for name in path[1:]:
        column = pa.compute.struct_field(column, name)
    if pa.types.is_timestamp(column.type) and column.type.unit == "ns":
        # Python's times have microseconds.
        return column.cast(pa.timestamp("us", column.type.tz), safe=False)
    return column

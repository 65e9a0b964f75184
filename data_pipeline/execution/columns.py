"""Arrow columns of strings as NumPy arrays: their bytes, lengths and checksums; cuts by size."""

import zlib
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

PIECE_BYTES = 16 << 20  # texts that one batch of pairs may repeat


def concat(batches: Sequence[pa.RecordBatch], schema: pa.Schema) -> pa.RecordBatch:
    """All rows in one batch; empty for no batches."""
    if not batches:
        return pa.RecordBatch.from_pylist([], schema=schema)
    return batches[0] if len(batches) == 1 else pa.concat_batches(batches)


def with_columns(rows: pa.RecordBatch, **columns: Any) -> pa.RecordBatch:
    """The rows with other values in some columns, Arrow arrays or lists [rows]."""
    for name, values in columns.items():
        field = rows.schema.field(name)
        place = rows.schema.get_field_index(name)
        rows = rows.set_column(place, name, pa.array(values, field.type))
    return rows


def pieces(sizes: np.ndarray, *, rows: int, most: int = PIECE_BYTES) -> Iterator[slice]:
    """Slices of at most `rows` rows, and of `most` bytes or one row; `sizes` are bytes [rows]."""
    ends = np.cumsum(sizes)
    start = 0
    while start < len(sizes):
        before = int(ends[start - 1]) if start else 0
        fitting = int(np.searchsorted(ends, before + most, side="right"))
        end = max(start + 1, min(start + rows, fitting))
        yield slice(start, end)
        start = end


def offsets_of(strings: Any) -> np.ndarray:
    """Where the strings of an Arrow array of large ones begin and end in its bytes, [rows + 1]."""
    offsets = strings.buffers()[1]
    if offsets is None:  # of an empty array
        return np.zeros(1, np.int64)
    return np.frombuffer(offsets, np.int64)[strings.offset : strings.offset + len(strings) + 1]


def bytes_of(strings: Any) -> np.ndarray:
    """The bytes behind an Arrow array of strings, uint8."""
    data = strings.buffers()[2]
    return np.zeros(0, np.uint8) if data is None else np.frombuffer(data, np.uint8)


def content_of(strings: Any) -> pa.Buffer:
    """The bytes of all strings of an Arrow array of large_binary, one after the other."""
    offsets = offsets_of(strings)
    data = strings.buffers()[2] or pa.py_buffer(b"")
    return data[int(offsets[0]) : int(offsets[-1])]


def lengths_of(strings: Any) -> np.ndarray:
    """The bytes of each string [rows]; 0 for nulls."""
    return pc.binary_length(strings).fill_null(0).to_numpy()


def crc32_of(strings: Any) -> np.ndarray:
    """`zlib.crc32` of each string, uint32 [rows]; 0 for nulls."""
    contents = strings.cast(pa.large_binary()).fill_null(b"").to_pylist()
    return np.fromiter(map(zlib.crc32, contents), np.uint32, len(contents))


def numbered(rows: pa.RecordBatch, *names: str) -> np.ndarray:
    """A number for each row, the same where both of two columns are, int64 [rows]."""
    first, second = (
        rows.column(name).dictionary_encode().indices.to_numpy().astype(np.int64) for name in names
    )
    return first << 32 | second


def values_of(mask: Any) -> np.ndarray:
    """An Arrow array of booleans as a NumPy array; nulls are False."""
    return pc.fill_null(mask, False).to_numpy(zero_copy_only=False)

"""How pairs are stored: TFRecord, Parquet or JSON lines.

On the way to its shard a pair is a *row*, bytes that its format makes of it, and its checksum; a
shard's file is made of its rows. Rows are ordered by their checksums: as good as shuffled for a
reader, and independent of how a runner divided the work.

Records are encoded by hand, all rows at once: 0.9 microseconds a pair, with its checksum, against
11.1 with protocol buffers.
"""

import gzip
import io
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import google_crc32c
import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet

from data_pipeline.execution.columns import lengths_of
from data_pipeline.pairs.tfrecord import (
    BYTES_LIST,
    CRC,
    GZIP_SUFFIX,
    before_value,
    frame_header,
    header,
    mask,
)

TFRECORD = "tfrecord"
PARQUET = "parquet"
FORMATS = (TFRECORD, PARQUET, "jsonl")
Rows: TypeAlias = bytes | pa.Buffer
"""The rows of a file, one after the other."""


class Format(NamedTuple):
    """One way to store pairs."""

    suffix: str
    rows: Callable[[Sequence[Any]], tuple[Any, np.ndarray]]
    """Columns of pairs, Arrow's strings without nulls, [rows] each -> a row for each pair, Arrow's
    large_binary, and the rows' checksums, uint32 [rows]."""
    file: Callable[[Rows], Rows] = lambda rows: rows
    """Joined rows -> the contents of a file."""


def make_format(name: str, *, names: Sequence[str], gzipped: bool = False) -> Format:
    """The format of one of the names in `FORMATS`; `names` are the features'."""
    if name == TFRECORD:
        form = Format(".tfrecord", partial(frame_columns, names))
    elif name == PARQUET:
        form = Format(".parquet", partial(_json_lines, names), partial(_parquet, names))
    else:
        form = Format(".jsonl", partial(_json_lines, names))
    if gzipped:
        # Without a time, so that the same rows give the same bytes.
        form = form._replace(suffix=form.suffix + GZIP_SUFFIX, file=partial(gzip.compress, mtime=0))
    return form


def frame_columns(names: Sequence[str], columns: Sequence[Any]) -> tuple[Any, np.ndarray]:
    """The rows as records of a TFRecord file, and their checksums as stored; see `Format.rows`."""
    records = encode_columns(names, columns)
    values = map(google_crc32c.value, records.to_pylist())
    checksums = mask(np.fromiter(values, np.uint32, len(records))).astype(CRC)
    behind = pa.FixedSizeBinaryArray.from_buffers(
        pa.binary(CRC.itemsize), len(records), [None, pa.py_buffer(checksums.tobytes())]
    )
    headers = _of_sizes(frame_header, lengths_of(records))
    return _joined(headers, records, behind.cast(pa.large_binary())), checksums


def encode_columns(names: Sequence[str], columns: Sequence[Any]) -> Any:
    """`encode_example` of each row, large_binary [rows]; see `Format.rows`."""
    parts, size = [], np.zeros(len(columns[0]), np.int64)
    for name, column in zip(names, columns, strict=True):
        lengths = lengths_of(column)
        before = _of_sizes(partial(before_value, name, BYTES_LIST), lengths)
        parts += [before, column.cast(pa.large_binary())]
        size += lengths_of(before) + lengths
    return _joined(_of_sizes(partial(header, 1), size), *parts)


def _of_sizes(make: Callable[[int], bytes], sizes: np.ndarray) -> Any:
    """The bytes that `make` gives for each of the sizes [rows], of which there are few."""
    encoded = pa.array(sizes).dictionary_encode()
    made = map(make, encoded.dictionary.to_pylist())
    return pa.array(made, pa.large_binary()).take(encoded.indices)


def _joined(*columns: Any) -> Any:
    return pc.binary_join_element_wise(*columns, pa.scalar(b"", pa.large_binary()))


def _json_lines(names: Sequence[str], columns: Sequence[Any]) -> tuple[Any, np.ndarray]:
    lines = [
        orjson.dumps(dict(zip(names, values, strict=True)), option=orjson.OPT_APPEND_NEWLINE)
        for values in zip(*(column.to_pylist() for column in columns), strict=True)
    ]
    checksums = np.fromiter(map(google_crc32c.value, lines), np.uint32, len(lines))
    return pa.array(lines, pa.large_binary()), checksums


def _parquet(names: Sequence[str], rows: Rows) -> bytes:
    """A table with a string column for each feature, compressed by Zstandard."""
    schema = pa.schema([(name, pa.string()) for name in names])
    table = pa.Table.from_pylist(list(map(orjson.loads, bytes(rows).splitlines())), schema=schema)
    stream = io.BytesIO()
    pyarrow.parquet.write_table(table, stream, compression="zstd")
    return stream.getvalue()

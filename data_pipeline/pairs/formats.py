"""How pairs are stored: TFRecord, Parquet or JSON lines.

On the way to its shard a pair is a *row*, bytes that its format makes of it, and its checksum; a
shard's file is made of its rows. Rows are ordered by their checksums: as good as shuffled for a
reader, and independent of how a runner divided the work.
"""

import gzip
import io
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import google_crc32c
import numpy as np
import orjson
import pyarrow as pa
import pyarrow.parquet

from data_pipeline.execution.columns import Rows
from data_pipeline.pairs.tfrecord import GZIP_SUFFIX
from data_pipeline.pairs.tfrecord_columns import frame_columns

TFRECORD = "tfrecord"
PARQUET = "parquet"
JSONL = "jsonl"
FORMATS = (TFRECORD, PARQUET, JSONL)


def _as_they_are(rows: Rows) -> Rows:
    return rows


class Format(NamedTuple):
    """One way to store pairs."""

    suffix: str
    rows: Callable[[Sequence[Any]], tuple[Any, np.ndarray]]
    """Columns of pairs, Arrow's strings, -> a row for each pair, Arrow's large_binary, and the
    rows' checksums, uint32 [rows]."""
    file: Callable[[Rows], Rows] = _as_they_are
    """Joined rows -> the contents of a file."""


def make_format(name: str, *, names: Sequence[str], gzipped: bool) -> Format:
    """The format of one of the names in `FORMATS`; `names` are the features'."""
    if name == TFRECORD:
        form = Format(".tfrecord", partial(frame_columns, names))
    else:
        form = Format(".jsonl", partial(_json_lines, names))
    if name == PARQUET:
        form = form._replace(suffix=".parquet", file=partial(_parquet, names))
    if gzipped:
        form = form._replace(suffix=form.suffix + GZIP_SUFFIX, file=_gzip)
    return form


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


def _gzip(rows: Rows) -> bytes:
    # Without a time, so that the same rows give the same bytes.
    return gzip.compress(rows, mtime=0)

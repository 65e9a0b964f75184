"""How pairs are stored: TFRecord, Parquet or JSON lines.

On the way to its shard a pair is a *row*, bytes that its format makes of it; a shard's file is
made of its rows. Rows are ordered by their checksums: as good as shuffled for a reader, and
independent of how a runner divided the work.
"""

import gzip
import io
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import NamedTuple

import google_crc32c
import orjson
import pyarrow as pa
import pyarrow.parquet

from data_pipeline.pairs.tfrecord import GZIP_SUFFIX, frame_columns, frame_key, split_frames

TFRECORD = "tfrecord"
PARQUET = "parquet"
JSONL = "jsonl"
FORMATS = (TFRECORD, PARQUET, JSONL)


class Format(NamedTuple):
    """One way to store pairs."""

    suffix: str
    rows: Callable[[Sequence[Sequence[str]]], list[bytes]]
    """Columns of pairs -> a row for each pair."""
    split: Callable[[bytes], Iterable[bytes]]
    """Joined rows -> the rows."""
    key: Callable[[bytes], bytes]
    """The sort key of a row in its shard: its checksum, then the row."""
    file: Callable[[Sequence[bytes]], bytes] = b"".join
    """Rows -> the contents of a file."""


def make_format(name: str, *, names: Sequence[str], gzipped: bool) -> Format:
    """The format of one of the names in `FORMATS`; `names` are the features'."""
    if name == TFRECORD:
        form = Format(".tfrecord", partial(frame_columns, names), split_frames, frame_key)
    else:
        form = Format(".jsonl", partial(_json_lines, names), _split_lines, _line_key)
    if name == PARQUET:
        form = form._replace(suffix=".parquet", file=partial(_parquet, names))
    if gzipped:
        form = form._replace(suffix=form.suffix + GZIP_SUFFIX, file=_gzip)
    return form


def _json_lines(names: Sequence[str], columns: Sequence[Sequence[str]]) -> list[bytes]:
    return [
        orjson.dumps(dict(zip(names, values, strict=True)), option=orjson.OPT_APPEND_NEWLINE)
        for values in zip(*columns, strict=True)
    ]


def _split_lines(rows: bytes) -> list[bytes]:
    return rows.splitlines(keepends=True)


def _line_key(row: bytes) -> bytes:
    return google_crc32c.value(row).to_bytes(4, "little") + row


def _parquet(names: Sequence[str], rows: Sequence[bytes]) -> bytes:
    """A table with a string column for each feature, compressed by Zstandard."""
    schema = pa.schema([(name, pa.string()) for name in names])
    table = pa.Table.from_pylist(list(map(orjson.loads, rows)), schema=schema)
    stream = io.BytesIO()
    pyarrow.parquet.write_table(table, stream, compression="zstd")
    return stream.getvalue()


def _gzip(rows: Sequence[bytes]) -> bytes:
    # Without a time, so that the same rows give the same bytes.
    return gzip.compress(b"".join(rows), mtime=0)

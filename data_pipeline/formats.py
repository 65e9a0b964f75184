"""How pairs are stored: TFRecord, Parquet or JSON lines.

On the way to its shard a pair is a *row*, bytes that its format made of it; a shard's file is
made of its rows. Rows are ordered by their checksums: an order as good as random, so that a
reader gets shuffled pairs, and one that does not depend on how a runner cut the work.
"""

import gzip
import io
from collections.abc import Iterator, Sequence
from typing import Protocol

import google_crc32c
import orjson
import pyarrow as pa
import pyarrow.parquet

from data_pipeline.records import (
    GZIP_SUFFIX,
    checksum_of_frame,
    encode_strings,
    frame,
    split_frames,
)


class Format(Protocol):
    """One way to store pairs."""

    suffix: str

    def row(self, values: Sequence[str]) -> bytes:
        """One pair as it travels; a value for each column."""

    def split(self, rows: bytes) -> Iterator[bytes]:
        """Rows that were joined, apart again."""

    def key(self, row: bytes) -> bytes:
        """What a shard's rows are ordered by."""

    def file(self, rows: Sequence[bytes]) -> bytes:
        """The contents of a file with these rows."""


class TFRecord:
    """`tf.train.Example`s with one string a feature, in TensorFlow's record format."""

    suffix = ".tfrecord"

    def __init__(self, columns: Sequence[str]):
        self._columns = tuple(columns)

    def row(self, values: Sequence[str]) -> bytes:
        """A framed record."""
        return frame(encode_strings(self._columns, values))

    def split(self, rows: bytes) -> Iterator[bytes]:
        """Framed records."""
        return split_frames(rows)

    def key(self, row: bytes) -> bytes:
        """The checksum that the frame has anyway, then the frame."""
        return checksum_of_frame(row) + row

    def file(self, rows: Sequence[bytes]) -> bytes:
        """The frames one behind the other."""
        return b"".join(rows)


class JsonLines:
    """One JSON object a line."""

    suffix = ".jsonl"

    def __init__(self, columns: Sequence[str]):
        self._columns = tuple(columns)

    def row(self, values: Sequence[str]) -> bytes:
        """A line."""
        features = dict(zip(self._columns, values, strict=True))
        return orjson.dumps(features, option=orjson.OPT_APPEND_NEWLINE)

    def split(self, rows: bytes) -> Iterator[bytes]:
        """Lines with their ends."""
        return iter(rows.splitlines(keepends=True))

    def key(self, row: bytes) -> bytes:
        """The line's checksum, then the line."""
        return google_crc32c.value(row).to_bytes(4, "little") + row

    def file(self, rows: Sequence[bytes]) -> bytes:
        """The lines one behind the other."""
        return b"".join(rows)


class Parquet(JsonLines):
    """A table with a string column for each feature; its rows travel as JSON lines."""

    suffix = ".parquet"

    def __init__(self, columns: Sequence[str]):
        super().__init__(columns)
        self._schema = pa.schema([(column, pa.string()) for column in columns])

    def file(self, rows: Sequence[bytes]) -> bytes:
        """One Parquet file, compressed with Zstandard inside."""
        table = pa.Table.from_pylist(list(map(orjson.loads, rows)), schema=self._schema)
        stream = io.BytesIO()
        pyarrow.parquet.write_table(table, stream, compression="zstd")
        return stream.getvalue()


class Gzipped:
    """Another format, its files compressed."""

    def __init__(self, inner: Format):
        self.suffix = inner.suffix + GZIP_SUFFIX
        self.row, self.split, self.key = inner.row, inner.split, inner.key
        self._inner = inner

    def file(self, rows: Sequence[bytes]) -> bytes:
        """The other format's file; without a time, so that the same rows give the same bytes."""
        return gzip.compress(self._inner.file(rows), mtime=0)


TFRECORD = "tfrecord"
PARQUET = "parquet"
JSONL = "jsonl"
FORMATS = (TFRECORD, PARQUET, JSONL)


def make_format(name: str, *, columns: Sequence[str], gzipped: bool) -> Format:
    """The format of one of the names in `FORMATS`; the columns are the features' names."""
    made: dict[str, Format] = {
        TFRECORD: TFRecord(columns),
        JSONL: JsonLines(columns),
        PARQUET: Parquet(columns),
    }
    return Gzipped(made[name]) if gzipped else made[name]

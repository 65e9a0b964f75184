"""How pairs are stored: TFRecord, Parquet or JSON lines.

On the way to its shard a pair is a *row*, bytes that its format makes of it; a shard's file is
made of its rows. Rows are ordered by their checksums: as good as shuffled for a reader, and
independent of how a runner divided the work.
"""

import gzip
import io
from collections.abc import Iterator, Sequence
from typing import Protocol

import google_crc32c
import orjson
import pyarrow as pa
import pyarrow.parquet

from data_pipeline.pairs.tfrecord import (
    GZIP_SUFFIX,
    checksum_of_frame,
    encode_columns,
    frame_all,
    split_frames,
)


class Format(Protocol):
    """One way to store pairs."""

    suffix: str

    def rows(self, columns: Sequence[Sequence[str]]) -> list[bytes]:
        """Columns of pairs -> a row for each pair."""

    def split(self, rows: bytes) -> Iterator[bytes]:
        """Splits joined rows."""

    def key(self, row: bytes) -> bytes:
        """The sort key of a row in its shard."""

    def file(self, rows: Sequence[bytes]) -> bytes:
        """The contents of a file with these rows."""


class TFRecord:
    """`tf.train.Example`s with one string a feature, in TensorFlow's record format."""

    suffix = ".tfrecord"

    def __init__(self, names: Sequence[str]):
        self._names = tuple(names)

    def rows(self, columns: Sequence[Sequence[str]]) -> list[bytes]:
        """Framed records."""
        return frame_all(encode_columns(self._names, columns))

    def split(self, rows: bytes) -> Iterator[bytes]:
        """Framed records."""
        return split_frames(rows)

    def key(self, row: bytes) -> bytes:
        """The checksum in the frame, then the frame."""
        return checksum_of_frame(row) + row

    def file(self, rows: Sequence[bytes]) -> bytes:
        """All frames."""
        return b"".join(rows)


class JsonLines:
    """One JSON object a line."""

    suffix = ".jsonl"

    def __init__(self, names: Sequence[str]):
        self._names = tuple(names)

    def rows(self, columns: Sequence[Sequence[str]]) -> list[bytes]:
        """Lines."""
        return [
            orjson.dumps(
                dict(zip(self._names, values, strict=True)), option=orjson.OPT_APPEND_NEWLINE
            )
            for values in zip(*columns, strict=True)
        ]

    def split(self, rows: bytes) -> Iterator[bytes]:
        """Lines with their ends."""
        return iter(rows.splitlines(keepends=True))

    def key(self, row: bytes) -> bytes:
        """The line's checksum, then the line."""
        return google_crc32c.value(row).to_bytes(4, "little") + row

    def file(self, rows: Sequence[bytes]) -> bytes:
        """All lines."""
        return b"".join(rows)


class Parquet(JsonLines):
    """A table with a string column for each feature; its rows are JSON lines until then."""

    suffix = ".parquet"

    def __init__(self, names: Sequence[str]):
        super().__init__(names)
        self._schema = pa.schema([(column, pa.string()) for column in names])

    def file(self, rows: Sequence[bytes]) -> bytes:
        """A Parquet file with columns compressed by Zstandard."""
        table = pa.Table.from_pylist(list(map(orjson.loads, rows)), schema=self._schema)
        stream = io.BytesIO()
        pyarrow.parquet.write_table(table, stream, compression="zstd")
        return stream.getvalue()


class Gzipped:
    """Another format whose files are compressed with gzip."""

    def __init__(self, inner: Format):
        self.suffix = inner.suffix + GZIP_SUFFIX
        self.rows, self.split, self.key = inner.rows, inner.split, inner.key
        self._inner = inner

    def file(self, rows: Sequence[bytes]) -> bytes:
        """The other format's file; without a time, so that the same rows give the same bytes."""
        return gzip.compress(self._inner.file(rows), mtime=0)


TFRECORD = "tfrecord"
PARQUET = "parquet"
JSONL = "jsonl"
FORMATS = (TFRECORD, PARQUET, JSONL)


def make_format(name: str, *, names: Sequence[str], gzipped: bool) -> Format:
    """The format of one of the names in `FORMATS`; `names` are the features'."""
    made: dict[str, Format] = {
        TFRECORD: TFRecord(names),
        JSONL: JsonLines(names),
        PARQUET: Parquet(names),
    }
    return Gzipped(made[name]) if gzipped else made[name]

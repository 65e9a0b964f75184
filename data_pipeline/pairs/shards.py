"""Pairs -> shard files of TFRecord, Parquet or JSON lines, the same in every run.

A pair's shard is a hash of its reply's id; a shard with more records than `--records_per_file`
becomes several files. Files are numbered when all are written (`publish`).

On the way to its shard a pair is a *row*, bytes that its format makes of it, and its checksum; a
shard's file is made of its rows. Rows are ordered by their checksums: as good as shuffled for a
reader, and independent of how a runner divided the work.
"""

import gzip
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import google_crc32c
import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet

from common import tfrecord
from data_pipeline.execution.columns import content_of, crc32_of, lengths_of
from data_pipeline.execution.exchange import Block, received
from data_pipeline.pairs.options import PARQUET, TFRECORD, PairOptions
from data_pipeline.pairs.schema import SPLIT
from data_pipeline.pairs.splits import SPLITS, TEST, TRAIN, VALIDATION
from data_pipeline.storage.output_folder import ShardFile, write_aside

ROWS = pa.schema([pa.field("key", pa.uint32()), pa.field("row", pa.large_binary())])
"""A pair on its way to its shard: what orders it there, and its format's bytes."""
_INPUT_BYTES_A_SHARD = 32 << 20  # compressed input for one train shard; some 300 MB of text
_LEAST_TRAIN_SHARDS = 16
Content: TypeAlias = bytes | pa.Buffer


def frame_columns(names: Sequence[str], columns: Sequence[Any]) -> tuple[Any, np.ndarray]:
    """The rows as records of a TFRecord file, and their checksums; see `Shards.encode`."""
    records = encode_columns(names, columns)
    values = map(google_crc32c.value, records.to_pylist())
    checksums = tfrecord.mask(np.fromiter(values, np.uint32, len(records))).astype(tfrecord.CRC)
    behind = pa.FixedSizeBinaryArray.from_buffers(
        pa.binary(tfrecord.CRC.itemsize), len(records), [None, pa.py_buffer(checksums.tobytes())]
    )
    headers = _of_sizes(tfrecord.frame_header, lengths_of(records))
    return _joined(headers, records, behind.cast(pa.large_binary())), checksums


def encode_columns(names: Sequence[str], columns: Sequence[Any]) -> Any:
    """`encode_example` of each row, large_binary [rows]; see `Shards.encode`.

    By hand, all rows at once: 0.9 microseconds a pair, with its checksum, against 11.1 with
    protocol buffers.
    """
    parts, size = [], np.zeros(len(columns[0]), np.int64)
    for name, column in zip(names, columns, strict=True):
        lengths = lengths_of(column)
        before = _of_sizes(partial(tfrecord.before_value, name, tfrecord.BYTES_LIST), lengths)
        parts += [before, column.cast(pa.large_binary())]
        size += lengths_of(before) + lengths
    return _joined(_of_sizes(partial(tfrecord.header, 1), size), *parts)


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


def _parquet(names: Sequence[str], rows: Content) -> bytes:
    """A table with a string column for each feature, compressed by Zstandard."""
    schema = pa.schema([(name, pa.string()) for name in names])
    table = pa.Table.from_pylist(list(map(orjson.loads, bytes(rows).splitlines())), schema=schema)
    stream = io.BytesIO()
    pyarrow.parquet.write_table(table, stream, compression="zstd")
    return stream.getvalue()


class Shards(NamedTuple):
    """The shards of each split: which pair goes where, and how it is stored there."""

    options: PairOptions
    by_split: dict[str, int]
    """Split -> how many shards it has; validation is left out where it is not asked for."""

    @property
    def suffix(self) -> str:
        """The end of the files' names."""
        return f".{self.options.format}" + tfrecord.GZIP_SUFFIX * self.options.gzip

    @property
    def _names(self) -> list[str]:
        """The features that are stored."""
        own = [tfrecord.OWN_REPLY] if self.options.has_authors else []
        context = map(tfrecord.CONTEXT.format, range(self.options.context_turns))
        return [*tfrecord.FEATURES, *own, *context]

    def listed(self) -> list[tuple[str, int]]:
        """Each shard's split and its index in it, also those that will stay empty."""
        return [(split, index) for split in self.by_split for index in range(self.by_split[split])]

    def encode(self, columns: Sequence[Any]) -> tuple[Any, np.ndarray]:
        """The rows of pairs, Arrow's large_binary, and the rows' checksums, uint32 [rows].

        `columns` are the stored features, Arrow's strings without nulls, [rows] each.
        """
        encode = frame_columns if self.options.format == TFRECORD else _json_lines
        return encode(self._names, columns)

    def content(self, rows: Content) -> Content:
        """The contents of a file of joined rows."""
        if self.options.format == PARQUET:
            return _parquet(self._names, rows)
        # Without a time, so that the same rows give the same bytes.
        return gzip.compress(rows, mtime=0) if self.options.gzip else rows

    def rows(self, pairs: pa.RecordBatch) -> tuple[pa.RecordBatch, np.ndarray]:
        """The rows of split pairs, of the schema `ROWS`; their shards as indices into `listed`."""
        columns = [pc.fill_null(pairs.column(name), "") for name in self._names]
        rows, checksums = self.encode(columns)
        # As a number that sorts as the stored bytes do.
        keys = pa.array(checksums.astype("<u4").view(">u4").astype(np.uint32))
        batch = pa.RecordBatch.from_arrays([keys, rows], schema=ROWS)
        splits = pairs.column(SPLIT).to_numpy()
        shards = np.array([self.by_split.get(split, 0) for split in SPLITS])
        first = np.cumsum(shards) - shards
        hashes = crc32_of(pairs.column(tfrecord.RESPONSE_ID)).astype(np.int64)
        return batch, first[splits] + hashes % np.maximum(shards, 1)[splits]


def shards_of(options: PairOptions, *, stored_bytes: int) -> Shards:
    """The shards of a job; a worker holds one in memory, so the input's size says how many."""
    parts = stored_bytes // _INPUT_BYTES_A_SHARD
    most = max(_LEAST_TRAIN_SHARDS, parts)
    by_split = {TRAIN: options.train_shards or most}
    if options.validation_fraction:
        by_split[VALIDATION] = max(1, round(parts * options.validation_fraction))
    by_split[TEST] = max(1, round(most * options.test_fraction))
    return Shards(options, by_split)


def write_shard(
    element: tuple[int, Iterable[Block | None]], *, folder: str, shards: Shards
) -> Iterator[ShardFile]:
    """(index of a shard, blocks of its rows) -> its files, at least one, the same in every try."""
    shard, blocks = element
    split, index = shards.listed()[shard]
    # By checksum, then by the row itself.
    rows = received(blocks, ROWS).sort_by([("key", "ascending"), ("row", "ascending")])
    most = shards.options.records_per_file or max(len(rows), 1)
    for number, start in enumerate(range(0, max(len(rows), 1), most)):
        name = f"{split}-{index:05d}-{number:05d}{shards.suffix}"
        in_file = rows.column("row")[start : start + most]
        content = shards.content(content_of(in_file))
        yield write_aside(folder, name, content, records=len(in_file), split=split)

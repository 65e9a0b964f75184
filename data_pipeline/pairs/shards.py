"""Pairs -> shard files, the same in every run.

A pair's shard is a hash of its reply's id; a shard with more records than `--records_per_file`
becomes several files. Files are numbered when all are written (`publish`).
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, NamedTuple

import apache_beam as beam
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from apache_beam.io.filesystems import FileSystems
from apache_beam.pvalue import AsList

from data_pipeline.execution.columns import content_of, crc32_of
from data_pipeline.execution.exchange import Block, received
from data_pipeline.execution.report import ShardFile
from data_pipeline.pairs.formats import Format
from data_pipeline.pairs.schema import RESPONSE_ID, stored_columns
from data_pipeline.pairs.splits import SPLITS, TEST, TRAIN, VALIDATION, split_keys, splits_of
from data_pipeline.storage.filesystem import NewFile, write_file

ROWS = pa.schema([pa.field("key", pa.uint32()), pa.field("row", pa.large_binary())])
"""A pair on its way to its shard: what orders it there, and its format's bytes."""
Shard = tuple[str, int]
"""Its split, and its index among the shards of this split."""


class Sharding(NamedTuple):
    """How pairs are split and stored, and how many shards each split has."""

    split_by: str
    test_fraction: float
    train_shards: int
    test_shards: int
    format: Format
    context_turns: int
    records_a_file: int | None
    validation_fraction: float = 0.0
    validation_shards: int = 1

    def shards_by_split(self) -> dict[str, int]:
        """Split -> how many shards it has; validation is left out where it is not asked for."""
        validation = {VALIDATION: self.validation_shards} if self.validation_fraction else {}
        return {TRAIN: self.train_shards, **validation, TEST: self.test_shards}

    def all_shards(self) -> list[Shard]:
        """Every shard, also those that will stay empty."""
        return [
            (split, index)
            for split, shards in self.shards_by_split().items()
            for index in range(shards)
        ]

    def rows(self, pairs: pa.RecordBatch) -> tuple[pa.RecordBatch, np.ndarray]:
        """The rows of pairs, of the schema `ROWS`, and the index of their shards [rows].

        The index is into `all_shards`.
        """
        columns = [pairs.column(name) for name in stored_columns(self.context_turns)]
        rows, checksums = self.format.rows([pc.fill_null(column, "") for column in columns])
        # As a number that sorts as the stored bytes do.
        keys = pa.array(checksums.astype("<u4").view(">u4").astype(np.uint32))
        batch = pa.RecordBatch.from_arrays([keys, rows], schema=ROWS)
        split_by = split_keys(pairs, self.split_by).dictionary_encode()
        splits = splits_of(
            split_by.dictionary,
            test_fraction=self.test_fraction,
            validation_fraction=self.validation_fraction,
        )[split_by.indices.to_numpy()]
        written = self.shards_by_split()
        shards = np.array([written.get(split, 0) for split in SPLITS])
        first = np.cumsum(shards) - shards
        hashes = crc32_of(pairs.column(RESPONSE_ID)).astype(np.int64)
        return batch, first[splits] + hashes % np.maximum(shards, 1)[splits]

    def cut(self, records: int) -> Iterator[slice]:
        """The records of each file of a shard; a shard without records is one file."""
        most = self.records_a_file or records or 1
        for start in range(0, max(records, 1), most):
            yield slice(start, min(start + most, records))


def write_shard(
    element: tuple[int, Iterable[Block | None]], *, folder: str, sharding: Sharding
) -> Iterator[ShardFile]:
    """(index of a shard, blocks of its rows) -> its files; a second try writes the same files."""
    shard, blocks = element
    split, index = sharding.all_shards()[shard]
    form = sharding.format
    # By checksum, then by the row itself.
    rows = received(blocks, ROWS).sort_by([("key", "ascending"), ("row", "ascending")])
    for number, part in enumerate(sharding.cut(len(rows))):
        name = f"{split}-{index:05d}-{number:05d}{form.suffix}"
        in_file = rows.column("row")[part]
        file = write_file(FileSystems.join(folder, name), form.file(content_of(in_file)))
        yield ShardFile(name, split, file.size, file.crc32c, len(in_file))


def _in_order(batches: list[bytes]) -> list[bytes]:
    """Single lines, sorted: batches depend on how the input was divided."""
    return sorted(line for batch in batches for line in batch.splitlines(keepends=True))


class WriteLines(beam.PTransform):
    """Batches of lines -> one file of them, empty without lines."""

    def __init__(
        self,
        folder: str,
        name: str,
        *,
        read: Callable[[list[Any]], Iterable[bytes]] = _in_order,
        most: int | None = None,
    ):
        """Writes at most `most` lines; `read` turns all elements into lines with their ends."""
        super().__init__()
        self._folder = folder
        self._name = name
        self._read = read
        self._most = most

    def expand(self, lines: beam.PCollection) -> beam.PCollection:
        """Sorts the elements, then reads and writes their lines."""
        return (
            lines.pipeline
            | "Start the file" >> beam.Impulse()
            | "Write them" >> beam.Map(self._write, elements=AsList(lines))
        )

    def _write(self, _: bytes, *, elements: list[Any]) -> ShardFile:
        records = 0
        lines = self._read(sorted(elements))
        with NewFile(FileSystems.join(self._folder, self._name)) as file:
            for some in islice(lines, self._most):
                file.write(some)
                records += some.count(b"\n")
        return ShardFile(self._name, "", file.size, file.crc32c, records)

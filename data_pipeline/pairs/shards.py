"""Pairs -> shard files, the same in every run.

A pair's shard is a hash of its reply's id; a shard with more records than `--records_per_file`
becomes several files. Files are numbered when all are written (`publish`).
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from data_pipeline.execution.columns import content_of, crc32_of
from data_pipeline.execution.exchange import Block, received
from data_pipeline.pairs.formats import Format, make_format
from data_pipeline.pairs.options import PairOptions
from data_pipeline.pairs.schema import SPLIT, stored_columns
from data_pipeline.pairs.splits import SPLITS, TEST, TRAIN, VALIDATION
from data_pipeline.pairs.tfrecord import RESPONSE_ID
from data_pipeline.storage.output_folder import ShardFile, write_aside

ROWS = pa.schema([pa.field("key", pa.uint32()), pa.field("row", pa.large_binary())])
"""A pair on its way to its shard: what orders it there, and its format's bytes."""
_INPUT_BYTES_A_SHARD = 32 << 20
"""Compressed input for one train shard; some 300 MB of text."""
LEAST_TRAIN_SHARDS = 16


class Shards(NamedTuple):
    """The shards of each split: which pair goes where, and how it is stored there."""

    options: PairOptions
    by_split: dict[str, int]
    """Split -> how many shards it has; validation is left out where it is not asked for."""

    @property
    def held_out(self) -> list[str]:
        """The splits that are not to train on."""
        return [split for split in self.by_split if split != TRAIN]

    @property
    def names(self) -> list[str]:
        """The features that are stored."""
        options = self.options
        return stored_columns(options.context_turns, has_authors=options.has_authors)

    @property
    def format(self) -> Format:
        """How pairs are stored."""
        options = self.options
        return make_format(options.format, names=self.names, gzipped=options.gzip)

    def listed(self) -> list[tuple[str, int]]:
        """Each shard's split and its index in it, also those that will stay empty."""
        return [(split, index) for split in self.by_split for index in range(self.by_split[split])]

    def rows(self, pairs: pa.RecordBatch) -> tuple[pa.RecordBatch, np.ndarray]:
        """The rows of split pairs, of the schema `ROWS`; their shards as indices into `listed`."""
        columns = [pairs.column(name) for name in self.names]
        rows, checksums = self.format.rows([pc.fill_null(column, "") for column in columns])
        # As a number that sorts as the stored bytes do.
        keys = pa.array(checksums.astype("<u4").view(">u4").astype(np.uint32))
        batch = pa.RecordBatch.from_arrays([keys, rows], schema=ROWS)
        splits = pairs.column(SPLIT).to_numpy()
        shards = np.array([self.by_split.get(split, 0) for split in SPLITS])
        first = np.cumsum(shards) - shards
        hashes = crc32_of(pairs.column(RESPONSE_ID)).astype(np.int64)
        return batch, first[splits] + hashes % np.maximum(shards, 1)[splits]


def shards_of(options: PairOptions, *, stored_bytes: int) -> Shards:
    """The shards of a job; a worker holds one in memory, so the input's size says how many."""
    parts = stored_bytes // _INPUT_BYTES_A_SHARD
    most = max(LEAST_TRAIN_SHARDS, parts)
    by_split = {TRAIN: options.train_shards or most}
    if options.validation_fraction:
        by_split[VALIDATION] = max(1, round(parts * options.validation_fraction))
    by_split[TEST] = max(1, round(most * options.test_fraction))
    return Shards(options, by_split)


def write_shard(
    element: tuple[int, Iterable[Block | None]], *, folder: str, shards: Shards
) -> Iterator[ShardFile]:
    """(index of a shard, blocks of its rows) -> its files; a second try writes the same files.

    A shard without records is one file.
    """
    shard, blocks = element
    split, index = shards.listed()[shard]
    form = shards.format
    # By checksum, then by the row itself.
    rows = received(blocks, ROWS).sort_by([("key", "ascending"), ("row", "ascending")])
    most = shards.options.records_per_file or max(len(rows), 1)
    for number, start in enumerate(range(0, max(len(rows), 1), most)):
        name = f"{split}-{index:05d}-{number:05d}{form.suffix}"
        in_file = rows.column("row")[start : start + most]
        content = form.file(content_of(in_file))
        yield write_aside(folder, name, content, records=len(in_file), split=split)

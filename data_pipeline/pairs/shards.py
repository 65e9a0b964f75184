"""Pairs -> shard files, the same in every run.

A pair's shard is a hash of its reply's id; a shard with more records than `--records_per_file`
becomes several files. Files are numbered when all are written (`publish`).
"""

import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any, NamedTuple

import apache_beam as beam
from apache_beam.io.filesystems import FileSystems

from data_pipeline.execution.shuffle import Block, Pair, read_blocks
from data_pipeline.files.filesystem import NewFile, write_file
from data_pipeline.pairs.formats import Format
from data_pipeline.pairs.splits import TEST, TRAIN, VALIDATION, split_of
from data_pipeline.pairs.tfrecord import CONTEXT, FEATURES

Shard = tuple[str, int]
"""Its split, and its index among the shards of this split."""


def stored_columns(context_turns: int) -> list[str]:
    """Names of the stored features of a pair."""
    return [*FEATURES, *map(CONTEXT.format, range(context_turns))]


class ShardFile(NamedTuple):
    """A file that was written aside."""

    name: str
    split: str
    """Empty for files of no split."""
    bytes: int
    crc32c: str
    """Hexadecimal digits."""
    records: int

    def describe(self) -> dict[str, Any]:
        """The entry in COMPLETED."""
        return {"bytes": self.bytes, "crc32c": self.crc32c, "records": self.records}


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

    def rows_by_shard(self, pairs: list[Pair]) -> tuple[dict[Shard, bytes], Counter]:
        """Shard -> its rows, and how many pairs each split has: `train_pairs` and so on."""
        if not pairs:
            return {}, Counter()
        columns = list(zip(*pairs, strict=True))
        shards = self.shards_by_split()
        rows: dict[Shard, list[bytes]] = defaultdict(list)
        counts: Counter = Counter()
        for row, pair in zip(self.format.rows(self._stored(columns)), pairs, strict=True):
            split = self._split_of(pair)
            rows[split, zlib.crc32(pair.response_id.encode()) % shards[split]].append(row)
            counts[f"{split}_pairs"] += 1
        return {shard: b"".join(some) for shard, some in rows.items()}, counts

    def _stored(self, columns: list[tuple]) -> list[Sequence[str]]:
        """All columns of pairs -> the `stored_columns`."""
        *_, contexts, _ = columns
        return [
            *columns[: len(FEATURES)],
            *(
                [context[turn] if turn < len(context) else "" for context in contexts]
                for turn in range(self.context_turns)
            ),
        ]

    def _split_of(self, pair: Pair) -> str:
        return split_of(
            thread=pair.thread_id,
            input_id=pair.input_id,
            response_id=pair.response_id,
            split_by=self.split_by,
            test_fraction=self.test_fraction,
            validation_fraction=self.validation_fraction,
        )

    def cut(self, rows: list[bytes]) -> Iterator[list[bytes]]:
        """The rows of a shard, file by file; a shard without rows is one file."""
        most = self.records_a_file or len(rows) or 1
        yield rows[:most]
        for start in range(most, len(rows), most):
            yield rows[start : start + most]


def write_shard(
    element: tuple[Shard, Iterable[Block | None]], *, folder: str, sharding: Sharding
) -> Iterator[ShardFile]:
    """(shard, blocks of its rows) -> its files; a second try writes the same files."""
    (split, index), blocks = element
    form = sharding.format
    there = (block for block in blocks if block is not None)
    rows = [row for joined in read_blocks(there) for row in form.split(joined)]
    rows.sort(key=form.key)
    for number, in_file in enumerate(sharding.cut(rows)):
        name = f"{split}-{index:05d}-{number:05d}{form.suffix}"
        file = write_file(FileSystems.join(folder, name), form.file(in_file))
        yield ShardFile(name, split, file.size, file.crc32c, len(in_file))


class WriteLines(beam.PTransform):
    """Batches of lines -> one file of them, empty without lines."""

    def __init__(
        self,
        folder: str,
        name: str,
        *,
        read: Callable[[Any], Iterable[bytes]] = lambda lines: (lines,),
        most: int | None = None,
    ):
        """Writes at most `most` lines; `read` turns an element into lines with their ends."""
        super().__init__()
        self._folder = folder
        self._name = name
        self._read = read
        self._most = most

    def expand(self, lines: beam.PCollection) -> beam.PCollection:
        """Sorts the elements, then reads and writes one after the other."""
        return (
            lines
            | "Collect them" >> beam.combiners.ToList()
            | "Write them" >> beam.Map(self._write)
        )

    def _write(self, elements: list[Any]) -> ShardFile:
        records = 0
        lines = chain.from_iterable(map(self._read, sorted(elements)))
        with NewFile(FileSystems.join(self._folder, self._name)) as file:
            for some in islice(lines, self._most):
                file.write(some)
                records += some.count(b"\n")
        return ShardFile(self._name, "", file.size, file.crc32c, records)

"""Pairs -> shard files, whose contents are the same in every run.

A pair's shard is a hash of its reply's id; a shard that would grow beyond a limit becomes several
files. Files are named and numbered when all are written (`output`).
"""

import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any, NamedTuple

import apache_beam as beam
import google_crc32c
from apache_beam.io.filesystems import FileSystems

from data_pipeline.execution.blocks import Block, BlockFile, read_blocks
from data_pipeline.files.output_folder import write_file
from data_pipeline.pairs.formats import Format
from data_pipeline.pairs.splits import (
    TEST,
    TRAIN,
    VALIDATION,
    side_of,
)
from data_pipeline.pairs.tfrecord import CONTEXT, FEATURES
from data_pipeline.reddit.join import Pair

Shard = tuple[str, int]
"""Its side, and its index among the shards of this side."""


def stored_columns(context_turns: int) -> list[str]:
    """Names of the features that are stored of a pair."""
    return [*FEATURES, *map(CONTEXT.format, range(context_turns))]


class ShardFile(NamedTuple):
    """A file that was written aside."""

    name: str
    side: str
    bytes: int
    crc32c: str
    """Hexadecimal digits."""
    records: int

    def describe(self) -> dict[str, Any]:
        """What COMPLETED says of it."""
        return {"bytes": self.bytes, "crc32c": self.crc32c, "records": self.records}


class Sharding(NamedTuple):
    """How pairs are split, how many shards each side has and how they are stored."""

    split_by: str
    test_fraction: float
    train_shards: int
    test_shards: int
    format: Format
    context_turns: int
    records_a_file: int | None
    bytes_a_file: int | None
    """Before compression; a file has at least one record."""
    validation_fraction: float = 0.0
    validation_shards: int = 1

    def shards_by_side(self) -> dict[str, int]:
        """How many shards each side has; validation is a side only where it is asked for."""
        validation = {VALIDATION: self.validation_shards} if self.validation_fraction else {}
        return {TRAIN: self.train_shards, **validation, TEST: self.test_shards}

    def all_shards(self) -> list[Shard]:
        """Every shard, the ones that will stay empty included."""
        return [
            (side, index)
            for side, shards in self.shards_by_side().items()
            for index in range(shards)
        ]

    def rows_by_shard(self, pairs: list[Pair]) -> tuple[dict[Shard, bytes], Counter]:
        """Rows by shard, and how many pairs each side has: `train_pairs` and so on."""
        if not pairs:
            return {}, Counter()
        columns = list(zip(*pairs, strict=True))
        shards = self.shards_by_side()
        rows: dict[Shard, list[bytes]] = defaultdict(list)
        counts: Counter = Counter()
        for row, pair in zip(self.format.rows(self._stored(columns)), pairs, strict=True):
            side = self._side(pair)
            rows[side, zlib.crc32(pair.response_id.encode()) % shards[side]].append(row)
            counts[f"{side}_pairs"] += 1
        return {shard: b"".join(some) for shard, some in rows.items()}, counts

    def _stored(self, columns: list[tuple]) -> list[Sequence[str]]:
        """Columns of all that a pair has -> the `stored_columns`."""
        *_, contexts, _ = columns
        return [
            *columns[: len(FEATURES)],
            *(
                [context[turn] if turn < len(context) else "" for context in contexts]
                for turn in range(self.context_turns)
            ),
        ]

    def _side(self, pair: Pair) -> str:
        return side_of(
            thread=pair.thread_id,
            input_id=pair.input_id,
            response_id=pair.response_id,
            split_by=self.split_by,
            test_fraction=self.test_fraction,
            validation_fraction=self.validation_fraction,
        )

    def cut(self, rows: list[bytes]) -> Iterator[list[bytes]]:
        """The rows of a shard, file by file; a shard without rows is one file."""
        file: list[bytes] = []
        size = 0
        for row in rows:
            too_many = len(file) == self.records_a_file
            too_large = self.bytes_a_file is not None and size + len(row) > self.bytes_a_file
            if file and (too_many or too_large):
                yield file
                file, size = [], 0
            file.append(row)
            size += len(row)
        yield file


class WriteShard(beam.DoFn):
    """(shard, blocks of its rows) -> its files; tried twice it writes the same files twice."""

    def __init__(self, folder: str, sharding: Sharding):
        self._folder = folder
        self._sharding = sharding

    def process(self, element: tuple[Shard, Iterable[Block | None]]) -> Iterator[ShardFile]:
        """Writes one shard; yields what is in its files."""
        (side, index), blocks = element
        form = self._sharding.format
        there = (block for block in blocks if block is not None)
        rows = [row for joined in read_blocks(there) for row in form.split(joined)]
        rows.sort(key=form.key)
        for number, in_file in enumerate(self._sharding.cut(rows)):
            name = f"{side}-{index:05d}-{number:05d}{form.suffix}"
            content = form.file(in_file)
            write_file(FileSystems.join(self._folder, name), content)
            checksum = f"{google_crc32c.value(content):08x}"
            yield ShardFile(name, side, len(content), checksum, len(in_file))


class WriteLines(beam.PTransform):
    """Lines, a few at a time -> one file of them; without lines an empty one."""

    def __init__(
        self,
        folder: str,
        name: str,
        *,
        read: Callable[[Any], Iterable[bytes]] = lambda lines: (lines,),
        most: int | None = None,
    ):
        """Creates the transform.

        Args:
          folder: where the file is written.
          name: the file's.
          read: an element's lines, each with its end.
          most: how many lines are written; None for all.
        """
        super().__init__()
        self._folder = folder
        self._name = name
        self._read = read
        self._most = most

    def expand(self, lines: beam.PCollection) -> beam.PCollection:
        """Elements are sorted and read one by one as they are written."""
        return (
            lines
            | "Bring them together" >> beam.combiners.ToList()
            | "Write them" >> beam.Map(self._write)
        )

    def _write(self, elements: list[Any]) -> ShardFile:
        records = 0
        lines = chain.from_iterable(map(self._read, sorted(elements)))
        with BlockFile(FileSystems.join(self._folder, self._name)) as file:
            for some in islice(lines, self._most):
                file.append(some)
                records += some.count(b"\n")
        return ShardFile(self._name, "", file.size, file.crc32c, records)

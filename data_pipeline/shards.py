"""Pairs -> shard files, whose contents are the same in every run.

A pair's shard is a hash of its reply's id, and inside a shard the records stand in the order
of their checksums: an order as good as random, so that a reader gets shuffled pairs, and one
that does not depend on how the runner cut and ordered the work.
"""

import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import apache_beam as beam
import orjson
from apache_beam.io.filesystems import FileSystems

from data_pipeline.output import write_file
from data_pipeline.pairing import Pair
from data_pipeline.records import checksum_of_frame, encode_example, frame, split_frames
from data_pipeline.splits import is_test

TRAIN = "train"
TEST = "test"
DEAD_LETTERS = "dead_letters"

Shard = tuple[str, int]
"""What it holds (TRAIN, TEST or DEAD_LETTERS) and its index."""


class Sharding(NamedTuple):
    """How pairs are split and how many files each side has."""

    split_by: str
    test_fraction: float
    train_shards: int
    test_shards: int

    def of_kind(self, kind: str) -> int:
        """The number of shards of one kind."""
        return {TRAIN: self.train_shards, TEST: self.test_shards, DEAD_LETTERS: 1}[kind]

    def all_shards(self) -> list[Shard]:
        """Every shard that the job writes, the ones that will stay empty included."""
        return [
            (kind, index)
            for kind in (TRAIN, TEST, DEAD_LETTERS)
            for index in range(self.of_kind(kind))
        ]

    def encode(self, pairs: Iterable[Pair]) -> tuple[dict[Shard, bytes], Counter]:
        """Framed records by shard, and the counts `train_pairs` and `test_pairs`."""
        frames: dict[Shard, bytearray] = defaultdict(bytearray)
        counts: Counter = Counter()
        for pair in pairs:
            kind = TEST if self._is_test(pair) else TRAIN
            index = zlib.crc32(pair.response_id.encode()) % self.of_kind(kind)
            frames[kind, index] += frame(encode_example(pair._asdict()))
            counts[f"{kind}_pairs"] += 1
        return {shard: bytes(joined) for shard, joined in frames.items()}, counts

    def _is_test(self, pair: Pair) -> bool:
        return is_test(
            thread=pair.thread_id,
            input_id=pair.input_id,
            response_id=pair.response_id,
            split_by=self.split_by,
            test_fraction=self.test_fraction,
        )


def dead_letter(*, path: str, line_number: int, reason: str, line: bytes) -> bytes:
    """One line of `dead_letters-*.jsonl`; bytes that are no UTF-8 stand as backslash escapes."""
    raw = line.decode(errors="backslashreplace")
    return orjson.dumps(
        {"file": path, "line": line_number, "reason": reason, "raw": raw},
        option=orjson.OPT_APPEND_NEWLINE,
    )


class WriteShard(beam.DoFn):
    """(shard, chunks of it) -> one file; a bundle tried twice writes the same file twice."""

    def __init__(self, folder: str, sharding: Sharding):
        self._folder = folder
        self._sharding = sharding

    def process(self, element: tuple[Shard, Iterable[bytes]]) -> Iterator[Any]:
        """Writes one shard; yields nothing."""
        (kind, index), chunks = element
        content = _sorted_lines(chunks) if kind == DEAD_LETTERS else _sorted_frames(chunks)
        suffix = "jsonl" if kind == DEAD_LETTERS else "tfrecord"
        name = f"{kind}-{index:05d}-of-{self._sharding.of_kind(kind):05d}.{suffix}"
        write_file(FileSystems.join(self._folder, name), content)
        return iter(())


def _sorted_frames(chunks: Iterable[bytes]) -> bytes:
    frames = [framed for chunk in chunks for framed in split_frames(chunk)]

    def by_checksum(framed: bytes) -> tuple[bytes, bytes]:
        return checksum_of_frame(framed), framed

    frames.sort(key=by_checksum)
    return b"".join(frames)


def _sorted_lines(chunks: Iterable[bytes]) -> bytes:
    lines = [line for chunk in chunks for line in chunk.splitlines(keepends=True)]

    def reading_order(line: bytes) -> tuple[str, int]:
        letter = orjson.loads(line)
        return letter["file"], letter["line"]

    lines.sort(key=reading_order)
    return b"".join(lines)

"""Batches of pairs -> blocks of rows by key: what goes before each shuffle of pairs."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from typing import Any

import apache_beam as beam
import orjson
from apache_beam.transforms.window import GlobalWindows

from data_pipeline.execution.blocks import Block, Transport, read_blocks
from data_pipeline.reddit.join import PAIRS_A_BATCH, Pair

FLUSH_BYTES = 32 << 20
"""A worker packs no more rows than this at once, over all keys."""

RowsByKey = Mapping[Any, bytes | bytearray]


class PackRows(beam.DoFn):
    """Batches of pairs -> (key, block of rows) elements."""

    def __init__(self, transport: Transport, rows_by_key: Callable[[list[Pair]], RowsByKey]):
        self._transport = transport
        self._rows_by_key = rows_by_key

    def start_bundle(self) -> None:
        """Begins with nothing packed."""
        self._rows: dict[Hashable, bytearray] = defaultdict(bytearray)
        self._bytes = 0

    def process(self, pairs: list[Pair]) -> Iterator[Any]:
        """Packs some pairs; yields when enough are packed."""
        for key, rows in self._rows_by_key(pairs).items():
            self._rows[key] += rows
            self._bytes += len(rows)
        if self._bytes >= FLUSH_BYTES:
            yield from self._flush()

    def finish_bundle(self) -> Iterator[Any]:
        """Yields what is left."""
        yield from map(GlobalWindows.windowed_value, self._flush())

    def _flush(self) -> list[tuple[Hashable, Block]]:
        if not self._rows:
            return []
        with self._transport.open() as blocks:
            packed = [(key, blocks.append_rows(rows)) for key, rows in self._rows.items()]
        self.start_bundle()
        return packed


def as_row(pair: Pair) -> bytes:
    """A pair on its way between two stages that both work on pairs."""
    # orjson leaves named tuples to others.
    return orjson.dumps(tuple(pair), option=orjson.OPT_APPEND_NEWLINE)


def read_pairs(blocks: Iterable[Block]) -> Iterator[list[Pair]]:
    """The pairs of blocks of such rows, some at a time."""
    pairs: list[Pair] = []
    for rows in read_blocks(blocks):
        for line in rows.splitlines():
            pairs.append(Pair(*orjson.loads(line)))
            if len(pairs) == PAIRS_A_BATCH:
                yield pairs
                pairs = []
    yield pairs

"""Turns of threads -> messages with ids and parents: each turn replies to the one before.

The turns of a thread may lie in several files; they are brought together by their thread, sorted
by their order, and go on to the join like any other messages.
"""

from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import attrgetter
from typing import Any, NamedTuple

import apache_beam as beam
import pyarrow as pa

from data_pipeline.execution.shuffle import Block, Transport, pack, read_blocks
from data_pipeline.messages.source import MESSAGES
from data_pipeline.pairing.join import Packer, partition_of
from data_pipeline.pairing.whole_rows import read_whole_rows

MESSAGES_A_BATCH = 100_000


class Turn(NamedTuple):
    """A row of `SCHEMAS[Layout.TURNS]`."""

    id: str
    parent: str | None
    thread: str
    group: str
    text: str
    created: int | None
    dropped_by: int | None
    order: str


class LinkTurns(beam.PTransform):
    """(partition, block of turns) -> (partition, block of messages), packed for the join."""

    def __init__(self, transport: Transport, *, partitions: int):
        super().__init__()
        self._transport = transport
        self._partitions = partitions

    def expand(self, blocks: beam.PCollection) -> beam.PCollection:
        """Brings threads together and links their turns."""
        return (
            blocks
            | "Group turns by thread" >> beam.GroupByKey()
            | "Link each turn to the one before" >> beam.FlatMap(self._link)
        )

    def _link(self, element: tuple[int, Iterable[Block]]) -> Iterator[tuple[int, Block]]:
        _, blocks = element
        turns = [
            Turn(*row)
            for packed in read_blocks(blocks)
            for rows in read_whole_rows(packed)
            for row in rows
        ]
        messages = link_turns(turns)
        for start in range(0, len(messages), MESSAGES_A_BATCH):
            yield from self._packed(messages[start : start + MESSAGES_A_BATCH])

    def _packed(self, messages: list[tuple]) -> list[tuple[Any, Block]]:
        columns = zip(*messages, strict=True)
        arrays = [pa.array(column, f.type) for column, f in zip(columns, MESSAGES, strict=True)]
        packer = Packer()
        packer.add(pa.RecordBatch.from_arrays(arrays, schema=MESSAGES))
        rows: dict[int, bytearray] = {}
        for subpartition, some in packer.packed():
            rows.setdefault(partition_of(subpartition, self._partitions), bytearray()).extend(some)
        return pack(rows, self._transport)


def link_turns(turns: list[Turn]) -> list[tuple]:
    """Turns of whole threads, in reading order -> rows of `MESSAGES`, thread by thread.

    A turn's id is THREAD:ORDER. Turns of one order stay in reading order, the later ones with a
    number behind their id; one with the same text is the same turn read twice, and gets the same
    id and parent.
    """
    in_order = sorted(turns, key=lambda turn: (turn.thread, number(turn.order)))
    messages = []
    for thread, of_thread in groupby(in_order, key=attrgetter("thread")):
        before = None
        for _, of_order in groupby(of_thread, key=lambda turn: number(turn.order)):
            ids: dict[str, tuple[str, str | None]] = {}
            for turn in of_order:
                if turn.text not in ids:
                    own_id = f"{thread}:{turn.order}" + (f"#{len(ids) + 1}" if ids else "")
                    ids[turn.text] = own_id, before
                    before = own_id
                messages.append((*ids[turn.text], *turn[2:-1]))
    return messages


def number(order: str) -> float | int:
    """The number that a turn's order is."""
    try:
        return int(order)
    except ValueError:
        return float(order)

"""Turns of threads -> messages with ids and parents: each turn replies to the one before.

The turns of a thread may lie in several files; they are brought together by their thread, sorted
by their order, and go on to the join like any other messages.
"""

from collections.abc import Iterable, Iterator
from decimal import Decimal
from itertools import groupby
from typing import NamedTuple

import apache_beam as beam
import pyarrow as pa

from data_pipeline.execution.columns import concat, decode
from data_pipeline.execution.shuffle import Block, Transport, pack, read_blocks
from data_pipeline.job.join import Packer
from data_pipeline.sources.source import MESSAGES, SCHEMAS, Layout

_TURNS = SCHEMAS[Layout.TURNS]
_MESSAGES_A_BATCH = 100_000


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
        batches = [batch for rows in read_blocks(blocks) for batch in decode(rows, (_TURNS,))]
        messages = link_turns(concat(batches, _TURNS))
        for start in range(0, messages.num_rows, _MESSAGES_A_BATCH):
            packer = Packer(self._partitions)
            packer.add(messages.slice(start, _MESSAGES_A_BATCH))
            yield from pack(dict(packer.packed()), self._transport)


class _Turn(NamedTuple):
    thread: str
    order: float | int | Decimal
    written: str
    """The order as the file has it."""
    text: str
    row: int


def link_turns(turns: pa.RecordBatch) -> pa.RecordBatch:
    """Turns of whole threads, in reading order -> messages, thread by thread.

    A turn's id is THREAD:ORDER. Turns of one order stay in reading order, the later ones with a
    number behind their id; one with the same text is the same turn read twice, and gets the same
    id and parent.
    """
    orders = turns.column("order").to_pylist()
    columns = (turns.column("thread").to_pylist(), map(_number, orders), orders)
    texts = turns.column("text").to_pylist()
    rows = map(_Turn._make, zip(*columns, texts, range(len(texts)), strict=True))
    ids: list[str] = []
    parents: list[str | None] = []
    taken: list[int] = []
    for thread, of_thread in groupby(sorted(rows, key=_place), key=lambda turn: turn.thread):
        before = None
        for _, of_order in groupby(of_thread, key=lambda turn: turn.order):
            known: dict[str, tuple[str, str | None]] = {}
            for turn in of_order:
                if turn.text not in known:
                    own_id = f"{thread}:{turn.written}" + (f"#{len(known) + 1}" if known else "")
                    known[turn.text] = own_id, before
                    before = own_id
                own_id, parent = known[turn.text]
                ids.append(own_id)
                parents.append(parent)
                taken.append(turn.row)
    messages = turns.select(MESSAGES.names).take(pa.array(taken, pa.int64()))
    made = {"id": pa.array(ids, pa.string()), "parent": pa.array(parents, pa.string())}
    arrays = [made.get(name, messages.column(name)) for name in MESSAGES.names]
    return pa.RecordBatch.from_arrays(arrays, schema=MESSAGES)


def _place(turn: _Turn) -> tuple[str, float | int | Decimal]:
    return turn.thread, turn.order


def _number(order: str) -> int | Decimal:
    try:
        return int(order)
    except ValueError:
        return Decimal(order)

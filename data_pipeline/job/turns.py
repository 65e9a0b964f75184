"""Turns of threads -> messages with ids and parents: each turn replies to the one before.

The turns of a thread may lie in several files; they are brought together by their thread, sorted
by their order, and go on to the join like any other messages.
"""

from collections.abc import Iterable, Iterator
from decimal import Decimal
from itertools import groupby
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from data_pipeline.execution.exchange import Block, received
from data_pipeline.job.join import partitions_of
from data_pipeline.job.read import POSITION, without_dropped_texts
from data_pipeline.sources.source import MESSAGES, SCHEMAS, Layout

TURNS = SCHEMAS[Layout.TURNS].append(POSITION)
_MESSAGES = MESSAGES.append(POSITION)
_MESSAGES_A_BATCH = 100_000


def by_thread(turns: pa.RecordBatch, *, partitions: int) -> tuple[pa.RecordBatch, np.ndarray]:
    """The turns, and the partitions of their threads."""
    return turns, partitions_of(turns.column("thread"), partitions)


def link(element: tuple[int, Iterable[Block]]) -> Iterator[pa.RecordBatch]:
    """(partition, blocks of turns) -> batches of messages with ids and parents."""
    _, blocks = element
    messages = without_dropped_texts(link_turns(received(blocks, TURNS)))
    for start in range(0, messages.num_rows, _MESSAGES_A_BATCH):
        yield messages.slice(start, _MESSAGES_A_BATCH)


class _Turn(NamedTuple):
    thread: str
    order: float | int | Decimal
    written: str
    """The order as the file has it."""
    text: str
    row: int


def link_turns(turns: pa.RecordBatch) -> pa.RecordBatch:
    """Turns of whole threads -> messages, thread by thread.

    A turn's id is THREAD:ORDER. Turns of one order stay in reading order, the later ones with a
    number behind their id; one with the same text is the same turn read twice, and gets the same
    id and parent.
    """
    turns = turns.sort_by(POSITION.name)
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
    messages = turns.select(_MESSAGES.names).take(pa.array(taken, pa.int64()))
    made = {"id": pa.array(ids, pa.string()), "parent": pa.array(parents, pa.string())}
    arrays = [made.get(name, messages.column(name)) for name in _MESSAGES.names]
    return pa.RecordBatch.from_arrays(arrays, schema=_MESSAGES)


def _place(turn: _Turn) -> tuple[str, float | int | Decimal]:
    return turn.thread, turn.order


def _number(order: str) -> int | Decimal:
    try:
        return int(order)
    except ValueError:
        return Decimal(order)

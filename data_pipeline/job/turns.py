"""Turns of threads -> messages with ids and parents: each turn replies to the one before.

The turns of a thread may lie in several files; they are brought together by their thread, sorted
by their order, and go on to the join like any other messages.
"""

from collections.abc import Iterable, Iterator
from decimal import Decimal
from itertools import groupby

import pyarrow as pa

from data_pipeline.execution.exchange import Block, received
from data_pipeline.job.read import POSITION, without_dropped_texts
from data_pipeline.sources.source import MESSAGES, SCHEMAS, Layout

TURNS = SCHEMAS[Layout.TURNS].append(POSITION)
_MESSAGES = MESSAGES.append(POSITION)
_MESSAGES_A_BATCH = 100_000


def link(element: tuple[int, Iterable[Block]]) -> Iterator[pa.RecordBatch]:
    """(partition, blocks of turns) -> batches of messages with ids and parents."""
    _, blocks = element
    messages = without_dropped_texts(link_turns(received(blocks, TURNS)))
    for start in range(0, messages.num_rows, _MESSAGES_A_BATCH):
        yield messages.slice(start, _MESSAGES_A_BATCH)


def link_turns(turns: pa.RecordBatch) -> pa.RecordBatch:
    """Turns of whole threads -> messages, thread by thread.

    A turn's id is THREAD:ORDER. Turns of one order stay in reading order, the later ones with a
    number behind their id; one with the same text is the same turn read twice, and gets the same
    id and parent.
    """
    turns = turns.sort_by(POSITION.name)
    threads, orders, texts = (
        turns.column(name).to_pylist() for name in ("thread", "order", "text")
    )
    places = list(zip(threads, map(Decimal, orders), strict=True))
    in_order = sorted(range(len(places)), key=places.__getitem__)
    ids: list[str] = []
    parents: list[str | None] = []
    last_thread, before = None, None
    for (thread, _), rows in groupby(in_order, key=places.__getitem__):
        before = before if thread == last_thread else None
        last_thread = thread
        known: dict[str, tuple[str, str | None]] = {}
        for row in rows:
            if texts[row] not in known:
                own_id = f"{thread}:{orders[row]}" + (f"#{len(known) + 1}" if known else "")
                known[texts[row]] = own_id, before
                before = own_id
            own_id, parent = known[texts[row]]
            ids.append(own_id)
            parents.append(parent)
    messages = turns.select(_MESSAGES.names).take(pa.array(in_order, pa.int64()))
    made = {"id": pa.array(ids, pa.string()), "parent": pa.array(parents, pa.string())}
    arrays = [made.get(name, messages.column(name)) for name in _MESSAGES.names]
    return pa.RecordBatch.from_arrays(arrays, schema=_MESSAGES)

"""Context turns: what the input of a pair replies to, what that replies to, and so on.

Each turn is one more join of the pairs with the messages, by the parent of the last known turn.
So a chain may run through any number of threads and files; it ends where a message is missing or
dropped or closes a cycle, and after `--context_turns`.
"""

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

import apache_beam as beam
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from apache_beam.pvalue import TaggedOutput

from data_pipeline.execution.columns import pieces, values_of
from data_pipeline.execution.exchange import Block, Exchange, received
from data_pipeline.job.join import OWN_MESSAGES, PAIRS_A_BATCH, OwnMessages, by_partition
from data_pipeline.pairs.schema import BEFORE_INPUT, CONTEXT_ID, pairs_schema
from data_pipeline.pairs.tfrecord import CONTEXT, INPUT_ID, RESPONSE_ID

_COMPLETE, _WAITING = "complete", "waiting pairs"
_WAITING_BYTES = 256 << 20
"""Of the pairs that are in memory at once: each has its input's text, and replies to one message
may be any number."""


def add_context_turns(
    pairs: beam.PCollection,
    messages: beam.PCollection,
    exchange: Exchange,
    *,
    turns: int,
    partitions: int,
) -> beam.PCollection:
    """Batches of pairs -> the same with up to `turns` turns before their inputs.

    `messages` are blocks of `OWN_SCHEMA` by the partitions of their ids.
    """
    for turn in range(turns):
        separate = beam.FlatMap(_separate_complete).with_outputs(_COMPLETE, main="waiting")
        waiting, complete = pairs | f"Keep complete pairs from turn {turn}" >> separate
        by_input = partial(by_partition, ids=BEFORE_INPUT, partitions=partitions)
        sent = waiting | f"Send pairs to turn {turn}" >> exchange.send(by_input)
        joined = (
            {OWN_MESSAGES: messages, _WAITING: sent}
            | f"Group pairs with turn {turn}" >> beam.CoGroupByKey()
            | f"Add context turn {turn}"
            >> beam.FlatMap(_add_turn, turn=turn, schema=pairs_schema(turns))
        )
        pairs = (joined, complete) | f"Merge all pairs after turn {turn}" >> beam.Flatten()
    return pairs


def _separate_complete(pairs: pa.RecordBatch) -> Iterator[Any]:
    is_waiting = pairs.column(BEFORE_INPUT).is_valid()
    yield pairs.filter(is_waiting)
    yield TaggedOutput(_COMPLETE, pairs.filter(pc.invert(is_waiting)))


def _add_turn(
    element: tuple[int, dict[str, Iterable[Block]]], *, turn: int, schema: pa.Schema
) -> Iterator[pa.RecordBatch]:
    _, blocks = element
    waiting = list(blocks[_WAITING])
    if not waiting:
        return
    own = OwnMessages(blocks[OWN_MESSAGES])
    sizes = np.array([block.length or len(block.data) for block in waiting])
    for piece in pieces(sizes, rows=len(waiting), most=_WAITING_BYTES):
        yield from add_turn(received(waiting[piece], schema), own, turn=turn)


def add_turn(pairs: pa.RecordBatch, own: OwnMessages, *, turn: int) -> Iterator[pa.RecordBatch]:
    """The pairs with the text of `BEFORE_INPUT` as context turn `turn`, where there is one.

    Yields them in batches of at most `PAIRS_A_BATCH`.
    """
    of_pairs = own.rows_of(pairs.column(BEFORE_INPUT))
    for piece in pieces(own.text_bytes(of_pairs), rows=PAIRS_A_BATCH):
        some = pairs.slice(piece.start, piece.stop - piece.start)
        rows = of_pairs[piece.start : piece.stop]
        before, new = own.take("id", rows), own.are_kept(rows)
        for name in (RESPONSE_ID, INPUT_ID, *map(CONTEXT_ID.format, range(turn))):
            new &= ~values_of(pc.equal(before, some.column(name)))
        rows = pc.if_else(pa.array(new), rows, None)
        columns = dict(zip(some.schema.names, some.columns, strict=True)) | {
            BEFORE_INPUT: own.take("parent", rows),
            CONTEXT.format(turn): own.take("text", rows),
            CONTEXT_ID.format(turn): pc.if_else(pa.array(new), before, None),
        }
        yield pa.RecordBatch.from_arrays(list(columns.values()), schema=some.schema)

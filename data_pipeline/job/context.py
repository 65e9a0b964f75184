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
from apache_beam.typehints import no_annotations

from data_pipeline.execution.columns import pieces, values_of
from data_pipeline.execution.exchange import Block, Exchange, received
from data_pipeline.job.join import OWN_MESSAGES, PAIRS_A_BATCH, OwnMessages, partitions_of
from data_pipeline.pairs.schema import (
    BEFORE_INPUT,
    CONTEXT,
    CONTEXT_ID,
    INPUT_ID,
    RESPONSE_ID,
    pairs_schema,
)

_COMPLETE, _WAITING = "complete", "waiting pairs"
_WAITING_BYTES = 256 << 20
"""Of the pairs that are in memory at once: each has its input's text, and replies to one message
may be any number."""


class AddContextTurn(beam.PTransform):
    """(batches of pairs, sent own messages) -> the pairs, with one more turn where known."""

    def __init__(self, exchange: Exchange, *, turn: int, turns: int, partitions: int):
        super().__init__()
        self._exchange = exchange
        self._turn = turn
        self._schema = pairs_schema(turns)
        self._partitions = partitions

    @no_annotations  # Beam has no type hint for several collections
    def expand(
        self, pairs_and_messages: tuple[beam.PCollection, beam.PCollection]
    ) -> beam.PCollection:
        """Joins once more; yields batches of pairs."""
        pairs, messages = pairs_and_messages
        waiting, complete = pairs | "Separate pairs without an earlier message" >> beam.FlatMap(
            _separate_complete
        ).with_outputs(_COMPLETE, main="waiting")
        sent = waiting | "Send pairs to the earlier message" >> self._exchange.send(
            partial(_by_earlier_message, partitions=self._partitions)
        )
        joined = (
            {OWN_MESSAGES: messages, _WAITING: sent}
            | "Group pairs with messages" >> beam.CoGroupByKey()
            | "Add the turn to the pairs"
            >> beam.FlatMap(_add_turn, turn=self._turn, schema=self._schema)
        )
        return (joined, complete) | "Merge all pairs" >> beam.Flatten()


def _separate_complete(pairs: pa.RecordBatch) -> Iterator[Any]:
    is_waiting = pairs.column(BEFORE_INPUT).is_valid()
    yield pairs.filter(is_waiting)
    yield TaggedOutput(_COMPLETE, pairs.filter(pc.invert(is_waiting)))


def _by_earlier_message(
    pairs: pa.RecordBatch, *, partitions: int
) -> tuple[pa.RecordBatch, np.ndarray]:
    return pairs, partitions_of(pairs.column(BEFORE_INPUT), partitions)


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
    rows = own.rows_of(pairs.column(BEFORE_INPUT))
    for piece in pieces(own.text_bytes(rows), rows=PAIRS_A_BATCH):
        some = pairs.slice(piece.start, piece.stop - piece.start)
        yield _with_turn(some, own, rows[piece.start : piece.stop], turn=turn)


def _with_turn(pairs: pa.RecordBatch, own: OwnMessages, rows: Any, *, turn: int) -> pa.RecordBatch:
    before = pairs.column(BEFORE_INPUT)
    seen = [RESPONSE_ID, INPUT_ID, *map(CONTEXT_ID.format, range(turn))]
    new = own.are_kept(rows)
    for name in seen:
        new &= ~values_of(pc.equal(before, pairs.column(name)))
    rows = pc.if_else(pa.array(new), rows, None)
    found = {
        BEFORE_INPUT: own.parents(rows),
        CONTEXT.format(turn): own.texts(rows),
        CONTEXT_ID.format(turn): pc.if_else(pa.array(new), before, None),
    }
    columns = [
        found.get(name, column)
        for name, column in zip(pairs.schema.names, pairs.columns, strict=True)
    ]
    return pa.RecordBatch.from_arrays(columns, schema=pairs.schema)

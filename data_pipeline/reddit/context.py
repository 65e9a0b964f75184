"""The earlier turns of a conversation: what an input replies to, what that replies to, and so on.

Each turn is one more join of the pairs with the comments, by the id that the last known turn
names as its parent. So a chain may run through any number of threads and files; it ends where a
comment is missing, was dropped by a rule or closes a circle, and after the turns asked for.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

import apache_beam as beam
from apache_beam.pvalue import TaggedOutput
from apache_beam.typehints import no_annotations

from data_pipeline.execution.blocks import Block, Transport
from data_pipeline.execution.packing import (
    PackRows,
    RowsByKey,
    as_row,
    read_pairs,
)
from data_pipeline.reddit.join import (
    OwnComments,
    Pair,
    bucket_of_slot,
    read_own_comments,
    slot_of,
)

_NO_MORE = "no more"


class EarlierTurn(beam.PTransform):
    """(batches of pairs, the comments of the join) -> the pairs with one more turn where known."""

    def __init__(self, transport: Transport, *, buckets: int):
        super().__init__()
        self._transport = transport
        self._buckets = buckets

    @no_annotations  # Beam has no type hint for several collections
    def expand(
        self, pairs_and_comments: tuple[beam.PCollection, beam.PCollection]
    ) -> beam.PCollection:
        """Joins once more; yields batches of pairs."""
        pairs, comments = pairs_and_comments
        asking, done = pairs | "Part those that begin a thread" >> beam.ParDo(
            _PartAsking()
        ).with_outputs(_NO_MORE, main="asking")
        rows = asking | "Pack by the comment asked for" >> beam.ParDo(
            PackRows(self._transport, partial(_rows_by_bucket, buckets=self._buckets))
        )
        answered = (
            {"comments": comments, "pairs": rows}
            | "Bring pairs and comments together" >> beam.CoGroupByKey()
            | "Add the turn" >> beam.ParDo(_AddTurn())
        )
        return (answered, done) | "Take both" >> beam.Flatten()


class _PartAsking(beam.DoFn):
    def process(self, pairs: list[Pair]) -> Iterator[Any]:
        yield [pair for pair in pairs if pair.before_input is not None]
        yield TaggedOutput(_NO_MORE, [pair for pair in pairs if pair.before_input is None])


def _rows_by_bucket(pairs: list[Pair], *, buckets: int) -> RowsByKey:
    rows: dict[int, bytearray] = defaultdict(bytearray)
    for pair in pairs:
        assert pair.before_input is not None
        rows[bucket_of_slot(slot_of(pair.before_input), buckets)] += as_row(pair)
    return rows


class _AddTurn(beam.DoFn):
    def process(self, element: tuple[int, dict[str, Iterable[Block]]]) -> Iterator[list[Pair]]:
        _, blocks = element
        waiting = list(blocks["pairs"])
        if waiting:
            own, _ = read_own_comments(blocks["comments"], with_parents=True)
            for pairs in read_pairs(waiting):
                yield [add_turn(pair, own) for pair in pairs]


def add_turn(pair: Pair, own: OwnComments) -> Pair:
    """The pair with the text of `before_input` in its context, if there is one to add."""
    turn = pair.before_input
    if turn is None:
        return pair
    text = own.text(turn)
    seen = (pair.response_id, pair.input_id, *pair.context_ids)
    if text is None or turn in seen:
        return pair._replace(before_input=None)
    assert own.parents is not None
    return pair._replace(
        before_input=own.parents[turn],
        context=(*pair.context, text),
        context_ids=(*pair.context_ids, turn),
    )

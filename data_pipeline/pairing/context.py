"""Context turns: what the input of a pair replies to, what that replies to, and so on.

Each turn is one more join of the pairs with the comments, by the parent of the last known turn.
So a chain may run through any number of threads and files; it ends where a comment is missing or
dropped or closes a cycle, and after `--context_turns`.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

import apache_beam as beam
from apache_beam.pvalue import TaggedOutput
from apache_beam.typehints import no_annotations

from data_pipeline.execution.shuffle import (
    Block,
    PackRows,
    Pair,
    RowsByKey,
    Transport,
    as_row,
    read_pairs,
)
from data_pipeline.pairing.join import (
    OwnComments,
    partition_of,
    read_own_comments,
    subpartition_of,
)

_COMPLETE = "complete"


class AddContextTurn(beam.PTransform):
    """(batches of pairs, the join's comments) -> the pairs, with one more turn where known."""

    def __init__(self, transport: Transport, *, partitions: int):
        super().__init__()
        self._transport = transport
        self._partitions = partitions

    @no_annotations  # Beam has no type hint for several collections
    def expand(
        self, pairs_and_comments: tuple[beam.PCollection, beam.PCollection]
    ) -> beam.PCollection:
        """Joins once more; yields batches of pairs."""
        pairs, comments = pairs_and_comments
        waiting, complete = pairs | "Separate pairs without an earlier comment" >> beam.FlatMap(
            _separate_complete
        ).with_outputs(_COMPLETE, main="waiting")
        rows = waiting | "Pack pairs by the earlier comment" >> beam.ParDo(
            PackRows(self._transport, partial(_rows_by_partition, partitions=self._partitions))
        )
        joined = (
            {"comments": comments, "pairs": rows}
            | "Group pairs with comments" >> beam.CoGroupByKey()
            | "Add the turn to the pairs" >> beam.FlatMap(_add_turn)
        )
        return (joined, complete) | "Merge all pairs" >> beam.Flatten()


def _separate_complete(pairs: list[Pair]) -> Iterator[Any]:
    yield [pair for pair in pairs if pair.before_input is not None]
    yield TaggedOutput(_COMPLETE, [pair for pair in pairs if pair.before_input is None])


def _rows_by_partition(pairs: list[Pair], *, partitions: int) -> RowsByKey:
    rows: dict[int, bytearray] = defaultdict(bytearray)
    for pair in pairs:
        assert pair.before_input is not None
        rows[partition_of(subpartition_of(pair.before_input), partitions)] += as_row(pair)
    return rows


def _add_turn(element: tuple[int, dict[str, Iterable[Block]]]) -> Iterator[list[Pair]]:
    _, blocks = element
    waiting = list(blocks["pairs"])
    if waiting:
        own, _ = read_own_comments(blocks["comments"], with_parents=True)
        for pairs in read_pairs(waiting):
            yield [add_turn(pair, own) for pair in pairs]


def add_turn(pair: Pair, own: OwnComments) -> Pair:
    """The pair with the text of `before_input` added to its context, if there is one."""
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

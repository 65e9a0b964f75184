"""Messages -> input-response pairs and the turns before them, one partition of ids at a time.

A message goes to the partition of its own id, where its replies look for it, and, if it is a
reply itself, to the partition of its parent's id. Partitions are even, however many messages a
thread has. (Keyed by thread, which parent and reply mostly share, the text would travel once
instead of twice; but a thread can have a million messages, and the first months of Reddit have
replies whose parent is in another thread.)

Each context turn is one more join of the pairs with the messages, by the parent of the last known
turn. So a chain may run through any number of threads and files; it ends where a message is missing
or dropped or closes a cycle, and after `--context_turns`.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import apache_beam as beam
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from apache_beam.pvalue import TaggedOutput

from common import tfrecord
from common.tfrecord import CONTEXT, INPUT, INPUT_ID, RESPONSE, RESPONSE_ID
from data_pipeline.execution.columns import (
    crc32_of,
    lengths_of,
    numbered,
    pieces,
    values_of,
    with_columns,
)
from data_pipeline.execution.exchange import Block, Exchange, received
from data_pipeline.execution.progress import JOINING, Note
from data_pipeline.execution.report import COUNTS, TALLY
from data_pipeline.job.ambiguity import Cases, add_linked
from data_pipeline.job.read import POSITION, TEXT
from data_pipeline.pairs.schema import BEFORE_INPUT, CONTEXT_ID, CREATED, pairs_schema
from data_pipeline.sources.ids import published, rows_of, whole
from data_pipeline.sources.source import MESSAGES

OWN_MESSAGES, REPLIES, _WAITING = "own messages", "replies", "waiting pairs"  # what is joined
PAIRS_A_BATCH = 50_000
"""Stages hand on at most as many pairs at once, so that a message with a million replies, all in
one partition, does not fill the memory."""
_WAITING_BYTES = 256 << 20
"""Of the pairs that are in memory at once: each has its input's text, and replies to one message
may be any number."""
_FIELDS = [*map(MESSAGES.field, ("id", "parent", "author")), TEXT, MESSAGES.field("dropped_by")]
OWN_SCHEMA = pa.schema([*_FIELDS, POSITION])
"""A message in the partition of its own id; dropped ones are included, to be counted once."""
REPLIES_SCHEMA = pa.schema([*OWN_SCHEMA, *map(MESSAGES.field, ("thread", "group", "created"))])
"""A message in its parent's partition."""


def by_partition(
    rows: pa.RecordBatch, *, ids: str, partitions: int
) -> tuple[pa.RecordBatch, np.ndarray]:
    """The rows and the partitions of the ids in a column; -1 for null."""
    column = rows.column(ids)
    partition = crc32_of(whole(published(column))).astype(np.int64) % partitions
    return rows, np.where(values_of(column.is_valid()), partition, -1)


def _in_reading_order(
    blocks: Iterable[Block], schema: pa.Schema
) -> tuple[pa.RecordBatch, np.ndarray]:
    """The messages, in reading order if two have one id; whether each is its id's first [rows]."""
    messages = received(blocks, schema)
    is_first = _are_first(messages.column("id"))
    if not is_first.all():
        messages = messages.sort_by(POSITION.name)
        is_first = _are_first(messages.column("id"))
    return messages, is_first


def _are_first(values: Any) -> np.ndarray:
    """Whether each value is the first of those that equal it [rows]."""
    return pc.index_in(values, value_set=values).to_numpy() == np.arange(len(values))


def _are_kept(messages: pa.RecordBatch, rows: Any) -> np.ndarray:
    """Whether the messages at these rows, of which some may be null, are there and kept [rows]."""
    return values_of(messages.column("dropped_by").is_null().take(rows))


def _by_text_bytes(messages: pa.RecordBatch, rows: Any) -> Iterator[slice]:
    """Pieces of rows whose texts, those of the messages there, fit into one batch of pairs."""
    sizes = pa.array(lengths_of(messages.column("text"))).take(rows).fill_null(0)
    return pieces(sizes.to_numpy(), rows=PAIRS_A_BATCH)


def _counts(dropped_by: Any, rule_names: Sequence[str], **more: int) -> Counter:
    """`comments`, `kept` and `dropped/RULE` of messages, and more."""
    by_rule = np.bincount(dropped_by.drop_null().to_numpy(), minlength=len(rule_names)).tolist()
    counts = Counter(comments=len(dropped_by), kept=int(dropped_by.null_count), **more)
    # A rule and what a format leaves out may have one name, such as `deleted`.
    for name, number in zip(rule_names, by_rule, strict=True):
        counts[f"dropped/{name}"] += number
    return +counts


def pair_partition(
    element: tuple[int, dict[str, Iterable[Block]]],
    *,
    rule_names: Sequence[str],
    context_turns: int,
    files: Mapping[int, str] | None,
    folder: str,
) -> Iterator[Any]:
    """(partition, its messages and replies) -> batches of pairs; tagged, their counts.

    Of several messages with one id the first counts, in the order of inputs and lines. Counted are
    `duplicates`, `comments`, `kept`, `replies`, `pairs`, `own_replies`, `dropped/RULE`, and, with
    the paths of the files, what is ambiguous.
    """
    partition, blocks = element
    own, are_ids_first = _in_reading_order(blocks[OWN_MESSAGES], OWN_SCHEMA)
    replies, are_first = _in_reading_order(blocks[REPLIES], REPLIES_SCHEMA)
    if not are_first.all():
        # Copies that name different parents are each paired.
        are_first = _are_first(pa.array(numbered(replies, "id", "parent")))
    kept = are_first & values_of(replies.column("dropped_by").is_null())
    parents = rows_of(replies.column("parent"), own.column("id"))
    if files is not None:
        cases = Cases(files)
        add_linked(cases, own, replies, pc.if_else(pa.array(kept), parents, -1))
        yield TaggedOutput(TALLY, cases.tally())
    others = values_of(pc.not_equal(replies.column("id"), own.column("id").take(parents)))
    paired = np.flatnonzero(kept & others & _are_kept(own, parents))
    rows = parents.take(pa.array(paired))
    once = own.column("dropped_by").filter(pa.array(are_ids_first))
    counts = _counts(
        once,
        rule_names,
        duplicates=own.num_rows - len(once),
        replies=int(kept.sum()),
        pairs=len(paired),
    )
    for piece in _by_text_bytes(own, rows):
        some, inputs = replies.take(pa.array(paired[piece])), own.take(rows[piece])
        is_own = pc.equal(some.column("author"), inputs.column("author"))
        counts["own_replies"] += pc.sum(is_own).as_py() or 0
        columns = {
            INPUT: inputs.column("text"),
            INPUT_ID: inputs.column("id"),
            RESPONSE_ID: some.column("id"),
            tfrecord.OWN_REPLY: is_own,
            BEFORE_INPUT: inputs.column("parent"),
        }
        yield _pairs_of(some, columns, context_turns=context_turns)
    yield TaggedOutput(TALLY, {COUNTS: counts})
    Note(folder, JOINING, f"{partition:05d}").write(1, finished=True)


def _pairs_of(
    responses: pa.RecordBatch, columns: dict[str, Any], *, context_turns: int
) -> pa.RecordBatch:
    """The pairs of some responses; columns that are not given are null."""
    columns |= {
        RESPONSE: responses.column("text"),
        tfrecord.THREAD_ID: responses.column("thread"),
        tfrecord.SUBREDDIT: responses.column("group"),
        CREATED: responses.column("created"),
    }
    schema, nothing = pairs_schema(context_turns), pa.nulls(responses.num_rows, pa.string())
    arrays = [columns.get(field.name, nothing).cast(field.type) for field in schema]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def with_published_ids(pairs: pa.RecordBatch) -> pa.RecordBatch:
    """The pairs with the ids that the input has."""
    ids = {name: published(pairs.column(name)) for name in (INPUT_ID, RESPONSE_ID)}
    return with_columns(pairs, **ids)


def pairs_of_rows(rows: pa.RecordBatch, *, rule_names: Sequence[str]) -> Iterator[Any]:
    """Rows that are pairs already -> the kept ones as pairs; tagged, their counts.

    Their ids are ROW:input and ROW:response. A row counts as one comment: `kept`, `replies` and
    `pairs` are the rows that no rule drops.
    """
    kept = rows.filter(rows.column("dropped_by").is_null())
    context = [name for name in rows.schema.names if name.startswith(CONTEXT.format(""))]
    columns = {name: kept.column(name) for name in (INPUT, *context)} | {
        name: pc.binary_join_element_wise(kept.column("id"), text, ":")
        for name, text in ((INPUT_ID, INPUT), (RESPONSE_ID, RESPONSE))
    }
    yield _pairs_of(kept, columns, context_turns=len(context))
    number = kept.num_rows
    counts = _counts(rows.column("dropped_by"), rule_names, replies=number, pairs=number)
    yield TaggedOutput(TALLY, {COUNTS: counts})


def add_context_turns(
    pairs: beam.PCollection,
    messages: beam.PCollection,
    exchange: Exchange,
    *,
    turns: int,
    partitions: int,
) -> beam.PCollection:
    """Pairs, blocks of `OWN_SCHEMA` by partition -> pairs with up to `turns` turns before them."""
    for turn in range(turns):
        complete = pairs | f"Keep complete pairs from turn {turn}" >> beam.Map(
            lambda some: some.filter(some.column(BEFORE_INPUT).is_null())
        )
        by_input = partial(by_partition, ids=BEFORE_INPUT, partitions=partitions)
        waiting = pairs | f"Send pairs to turn {turn}" >> exchange.send(by_input)
        joined = (
            {OWN_MESSAGES: messages, _WAITING: waiting}
            | f"Group pairs with turn {turn}" >> beam.CoGroupByKey()
            | f"Add context turn {turn}"
            >> beam.FlatMap(_add_turn, turn=turn, schema=pairs_schema(turns))
        )
        pairs = (joined, complete) | f"Merge all pairs after turn {turn}" >> beam.Flatten()
    return pairs


def _add_turn(
    element: tuple[int, dict[str, Iterable[Block]]], *, turn: int, schema: pa.Schema
) -> Iterator[pa.RecordBatch]:
    """Yields the pairs with the text of `BEFORE_INPUT`, if there is one, as context turn `turn`."""
    _, blocks = element
    waiting = list(blocks[_WAITING])
    if not waiting:
        return
    own, _ = _in_reading_order(blocks[OWN_MESSAGES], OWN_SCHEMA)
    sizes = np.array([block.length or len(block.data) for block in waiting])
    for in_memory in pieces(sizes, rows=len(waiting), most=_WAITING_BYTES):
        pairs = received(waiting[in_memory], schema)
        of_pairs = rows_of(pairs.column(BEFORE_INPUT), own.column("id"))
        for piece in _by_text_bytes(own, of_pairs):
            some, rows = pairs[piece], of_pairs[piece]
            before, new = own.column("id").take(rows), _are_kept(own, rows)
            for name in (RESPONSE_ID, INPUT_ID, *map(CONTEXT_ID.format, range(turn))):
                new &= ~values_of(pc.equal(before, some.column(name)))
            rows = pc.if_else(pa.array(new), rows, None)
            columns = {
                BEFORE_INPUT: own.column("parent").take(rows),
                CONTEXT.format(turn): own.column("text").take(rows),
                CONTEXT_ID.format(turn): pc.if_else(pa.array(new), before, None),
            }
            yield with_columns(some, **columns)

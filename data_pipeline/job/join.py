"""Messages -> input-response pairs: the join, one partition of message ids at a time.

A message goes to the partition of its own id, where its replies look for it, and, if it is a
reply itself, to the partition of its parent's id. Partitions are even, however many messages a
thread has. (Keyed by thread, which parent and reply mostly share, the text would travel once
instead of twice; but a thread can have a million messages, and the first months of Reddit have
replies whose parent is in another thread.)
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from apache_beam.pvalue import TaggedOutput

from data_pipeline.execution.columns import crc32_of, lengths_of, numbered, pieces, values_of
from data_pipeline.execution.exchange import Block, received
from data_pipeline.execution.progress import JOINING, Note
from data_pipeline.execution.report import COUNTS, TALLY
from data_pipeline.job.ambiguity import Cases, add_linked
from data_pipeline.job.read import POSITION, TEXT
from data_pipeline.pairs.schema import BEFORE_INPUT, CREATED, pairs_schema
from data_pipeline.pairs.tfrecord import (
    CONTEXT,
    INPUT,
    INPUT_ID,
    OWN_REPLY,
    RESPONSE,
    RESPONSE_ID,
    SUBREDDIT,
    THREAD_ID,
)
from data_pipeline.sources.ids import published, rows_of, whole
from data_pipeline.sources.source import MESSAGES

OWN_MESSAGES, REPLIES = "own messages", "replies"
"""What is joined."""
PAIRS_A_BATCH = 50_000
"""Stages hand on at most as many pairs at once, so that a message with a million replies, all in
one partition, does not fill the memory."""
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
    """The messages of some blocks, and whether each is the first with its id [rows].

    In reading order if two have one id; else their order does not matter.
    """
    messages = received(blocks, schema)
    is_first = _are_first(messages.column("id"))
    if not is_first.all():
        messages = messages.sort_by(POSITION.name)
        is_first = _are_first(messages.column("id"))
    return messages, is_first


class OwnMessages:
    """The messages of one partition by id; of several with one id the first counts."""

    def __init__(self, blocks: Iterable[Block]):
        """Takes blocks of `OWN_SCHEMA`."""
        self.messages, self._is_first = _in_reading_order(blocks, OWN_SCHEMA)
        self._text_bytes = pa.array(lengths_of(self.messages.column("text")))

    def rows_of(self, ids: Any) -> Any:
        """The row of each id; null for ids that are not here."""
        return rows_of(ids, self.messages.column("id"))

    def take(self, name: str, rows: Any) -> Any:
        """A column of `OWN_SCHEMA`, such as "id", at some rows; null for null rows."""
        return self.messages.column(name).take(rows)

    def text_bytes(self, rows: Any) -> np.ndarray:
        """The bytes of their texts."""
        return self._text_bytes.take(rows).fill_null(0).to_numpy()

    def are_kept(self, rows: Any) -> np.ndarray:
        """Whether the messages are here and kept."""
        return values_of(self.messages.column("dropped_by").is_null().take(rows))

    def count(self, rule_names: Sequence[str]) -> Counter:
        """`duplicates`, `comments`, `kept` and `dropped/RULE`."""
        once = self.messages.column("dropped_by").filter(pa.array(self._is_first))
        return _counts(once, rule_names) + Counter(duplicates=self.messages.num_rows - len(once))


def _counts(dropped_by: Any, rule_names: Sequence[str]) -> Counter:
    """`comments`, `kept` and `dropped/RULE` of messages."""
    by_rule = np.bincount(dropped_by.drop_null().to_numpy(), minlength=len(rule_names)).tolist()
    counts = Counter(comments=len(dropped_by), kept=int(dropped_by.null_count))
    counts.update({f"dropped/{rule_names[rule]}": number for rule, number in enumerate(by_rule)})
    return +counts


def pair_partition(
    element: tuple[int, dict[str, Iterable[Block]]],
    *,
    rule_names: Sequence[str],
    context_turns: int,
    files: Sequence[str] | None,
    folder: str,
) -> Iterator[Any]:
    """(partition, its messages and replies) -> batches of pairs; tagged, their counts.

    Of several messages with one id the first counts, in the order of inputs and lines. With the
    paths of the files, what is ambiguous is tagged, too.

    Yields:
      Batches of `pairs_schema(context_turns)` of at most `PAIRS_A_BATCH` pairs; tagged, the tally
      of `duplicates`, `comments`, `kept`, `replies`, `pairs`, `own_replies`, `dropped/RULE`.
    """
    partition, blocks = element
    own = OwnMessages(blocks[OWN_MESSAGES])
    replies, are_first = _in_reading_order(blocks[REPLIES], REPLIES_SCHEMA)
    if not are_first.all():
        # Copies that name different parents are each paired.
        are_first = _are_first(pa.array(numbered(replies, "id", "parent")))
    schema = pairs_schema(context_turns)
    kept = are_first & values_of(replies.column("dropped_by").is_null())
    parents = own.rows_of(replies.column("parent"))
    if files is not None:
        cases = Cases(files)
        add_linked(cases, own.messages, replies, pc.if_else(pa.array(kept), parents, -1))
        yield TaggedOutput(TALLY, cases.tally())
    others = values_of(pc.not_equal(replies.column("id"), own.take("id", parents)))
    paired = np.flatnonzero(kept & others & own.are_kept(parents))
    rows = parents.take(pa.array(paired))
    counts = own.count(rule_names) + Counter(replies=int(kept.sum()), pairs=len(paired))
    for piece in pieces(own.text_bytes(rows), rows=PAIRS_A_BATCH):
        some = replies.take(pa.array(paired[piece]))
        pairs = _pairs(some, own, rows[piece.start : piece.stop], schema)
        counts["own_replies"] += pc.sum(pc.equal(pairs.column(OWN_REPLY), "true")).as_py() or 0
        yield pairs
    yield TaggedOutput(TALLY, {COUNTS: counts})
    Note(folder, JOINING, f"{partition:05d}").write(1, finished=True)


def _are_first(values: Any) -> np.ndarray:
    """Whether each value is the first of those that equal it [rows]."""
    return pc.index_in(values, value_set=values).to_numpy() == np.arange(len(values))


def _pairs(
    replies: pa.RecordBatch, own: OwnMessages, rows: Any, schema: pa.Schema
) -> pa.RecordBatch:
    columns = {
        INPUT: own.take("text", rows),
        RESPONSE: replies.column("text"),
        INPUT_ID: own.take("id", rows),
        RESPONSE_ID: replies.column("id"),
        THREAD_ID: replies.column("thread"),
        SUBREDDIT: replies.column("group"),
        OWN_REPLY: pc.equal(replies.column("author"), own.take("author", rows)),
        CREATED: replies.column("created"),
        BEFORE_INPUT: own.take("parent", rows),
    }
    return _batch_of(columns, schema, rows=len(rows))


def _batch_of(columns: dict[str, Any], schema: pa.Schema, *, rows: int) -> pa.RecordBatch:
    nothing = pa.nulls(rows, pa.string())
    arrays = [columns.get(field.name, nothing).cast(field.type) for field in schema]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def pairs_of_rows(rows: pa.RecordBatch, *, rule_names: Sequence[str]) -> Iterator[Any]:
    """Rows that are pairs already -> the kept ones as pairs; tagged, their counts.

    Their ids are ROW:input and ROW:response. A row counts as one comment: `kept`, `replies` and
    `pairs` are the rows that no rule drops.
    """
    kept = rows.filter(rows.column("dropped_by").is_null())
    columns = {
        INPUT: kept.column("input"),
        RESPONSE: kept.column("text"),
        INPUT_ID: pc.binary_join_element_wise(kept.column("id"), "input", ":"),
        RESPONSE_ID: pc.binary_join_element_wise(kept.column("id"), "response", ":"),
        THREAD_ID: kept.column("thread"),
        SUBREDDIT: kept.column("group"),
        CREATED: kept.column("created"),
    }
    context = [name for name in rows.schema.names if name.startswith(CONTEXT.format(""))]
    columns |= {name: kept.column(name) for name in context}
    counts = _counts(rows.column("dropped_by"), rule_names)
    counts.update(replies=kept.num_rows, pairs=kept.num_rows)
    yield _batch_of(columns, pairs_schema(len(context)), rows=kept.num_rows)
    yield TaggedOutput(TALLY, {COUNTS: counts})

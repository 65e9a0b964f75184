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

from data_pipeline.execution.columns import concat, crc32_of, lengths_of, pieces, values_of
from data_pipeline.execution.exchange import Block, received
from data_pipeline.job.read import POSITION
from data_pipeline.pairs.schema import pairs_schema
from data_pipeline.sources.source import MESSAGES

OWN_MESSAGES, REPLIES = "own messages", "replies"
"""What is joined."""
PAIRS_A_BATCH = 50_000
"""Stages hand on at most as many pairs at once, so that a message with a million replies, all in
one partition, does not fill the memory."""
_TEXT = pa.field("text", pa.large_string())
"""Null where the message is dropped."""

OWN_SCHEMA = pa.schema(
    [*map(MESSAGES.field, ("id", "parent")), _TEXT, MESSAGES.field("dropped_by"), POSITION]
)
"""A message in the partition of its own id; dropped ones are included, to be counted once."""
REPLIES_SCHEMA = pa.schema([*OWN_SCHEMA, *map(MESSAGES.field, ("thread", "group", "created"))])
"""A message in its parent's partition."""


def partitions_of(ids: Any, partitions: int) -> np.ndarray:
    """The partitions in which the replies to messages with these ids look for them [rows]."""
    return crc32_of(ids).astype(np.int64) % partitions


def by_id(messages: pa.RecordBatch, *, partitions: int) -> tuple[pa.RecordBatch, np.ndarray]:
    """The messages and their partitions."""
    return messages, partitions_of(messages.column("id"), partitions)


def by_parent(messages: pa.RecordBatch, *, partitions: int) -> tuple[pa.RecordBatch, np.ndarray]:
    """The messages and the partitions of their parents; -1 where there is none."""
    parents = messages.column("parent")
    keys = np.where(values_of(parents.is_valid()), partitions_of(parents, partitions), -1)
    return messages, keys


def in_reading_order(messages: pa.RecordBatch) -> pa.RecordBatch:
    """The messages, in reading order if two have one id; else their order does not matter."""
    if pc.count_distinct(messages.column("id")).as_py() < messages.num_rows:
        return messages.sort_by(POSITION.name)
    return messages


class OwnMessages:
    """The messages of one partition by id; of several with one id the first counts."""

    def __init__(self, blocks: Iterable[Block]):
        """Takes blocks of `OWN_SCHEMA`."""
        self._messages = in_reading_order(received(blocks, OWN_SCHEMA))
        ids = self._messages.column("id")
        first = pc.index_in(ids, value_set=ids).to_numpy()
        self._is_first = first == np.arange(len(first))
        self._text_bytes = pa.array(lengths_of(self._messages.column("text")))

    def rows_of(self, ids: Any) -> Any:
        """The row of each id; null for ids that are not here."""
        return pc.index_in(ids, value_set=self._messages.column("id"))

    def texts(self, rows: Any) -> Any:
        """Their texts; null for null rows and dropped messages."""
        return self._messages.column("text").take(rows)

    def text_bytes(self, rows: Any) -> np.ndarray:
        """The bytes of their texts."""
        return self._text_bytes.take(rows).fill_null(0).to_numpy()

    def parents(self, rows: Any) -> Any:
        """The ids of what they reply to."""
        return self._messages.column("parent").take(rows)

    def are_kept(self, rows: Any) -> np.ndarray:
        """Whether the messages are here and kept."""
        return values_of(self._messages.column("dropped_by").is_null().take(rows))

    def count(self, rule_names: Sequence[str]) -> Counter:
        """`duplicates`, `comments`, `kept` and `dropped/RULE`."""
        once = self._messages.column("dropped_by").filter(pa.array(self._is_first))
        by_rule = np.bincount(once.drop_null().to_numpy(), minlength=len(rule_names))
        counts = Counter(
            {f"dropped/{rule_names[rule]}": int(n) for rule, n in enumerate(by_rule) if n}
        )
        counts["duplicates"] = self._messages.num_rows - len(once)
        counts["comments"] = len(once)
        counts["kept"] = once.null_count
        return counts


def pair_partition(
    blocks: dict[str, Iterable[Block]], *, rule_names: Sequence[str], context_turns: int
) -> Iterator[tuple[pa.RecordBatch, Counter]]:
    """Joins the replies of one partition to their parents.

    Of several messages with one id the first counts, in the order of inputs and lines. If they
    name different parents, each is paired.

    Yields:
      Batches of `pairs_schema(context_turns)` of at most `PAIRS_A_BATCH` pairs, each with counts:
      `duplicates`, `comments`, `kept`, `replies`, `pairs`, `dropped/RULE`.
    """
    own = OwnMessages(blocks[OWN_MESSAGES])
    replies = in_reading_order(received(blocks[REPLIES], REPLIES_SCHEMA))
    schema = pairs_schema(context_turns)
    yield concat([], schema), own.count(rule_names)
    kept = _are_first_copies(replies) & values_of(replies.column("dropped_by").is_null())
    parents = own.rows_of(replies.column("parent"))
    others = values_of(pc.not_equal(replies.column("id"), replies.column("parent")))
    paired = np.flatnonzero(kept & others & own.are_kept(parents))
    yield concat([], schema), Counter(replies=int(kept.sum()))
    rows = parents.take(pa.array(paired))
    for piece in pieces(own.text_bytes(rows), rows=PAIRS_A_BATCH):
        some = replies.take(pa.array(paired[piece]))
        pairs = _pairs(some, own, rows[piece.start : piece.stop], schema)
        yield pairs, Counter(pairs=pairs.num_rows)


def _are_first_copies(replies: pa.RecordBatch) -> np.ndarray:
    """Whether each reply is the first with its id and its parent [rows]."""
    ids = replies.column("id")
    is_first = np.ones(len(ids), bool)
    if pc.count_distinct(ids).as_py() < len(ids):
        codes = [
            replies.column(name).dictionary_encode().indices.to_numpy() for name in ("id", "parent")
        ]
        _, first = np.unique(codes[0].astype(np.int64) << 32 | codes[1], return_index=True)
        is_first[:] = False
        is_first[first] = True
    return is_first


def _pairs(
    replies: pa.RecordBatch, own: OwnMessages, rows: Any, schema: pa.Schema
) -> pa.RecordBatch:
    columns = {
        "input": own.texts(rows),
        "response": replies.column("text"),
        "input_id": replies.column("parent"),
        "response_id": replies.column("id"),
        "thread_id": replies.column("thread"),
        "subreddit": replies.column("group"),
        "created": replies.column("created"),
        "before_input": own.parents(rows),
    }
    nothing = pa.nulls(len(rows), pa.large_string())
    return pa.RecordBatch.from_arrays(
        [columns.get(field.name, nothing).cast(field.type) for field in schema],
        schema=schema,
    )

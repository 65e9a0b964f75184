"""Messages -> input-response pairs: the join, one partition of message ids at a time.

A message goes to the partition of its own id, where its replies look for it, and, if it is a
reply itself, to the partition of its parent's id. Partitions are even, however many messages a
thread has. (Keyed by thread, which parent and reply mostly share, the text would travel once
instead of twice; but a thread can have a million messages, and the first months of Reddit have
replies whose parent is in another thread.)

Messages that a cache keeps are packed by *subpartition*, of which there are 1,024; a partition is a
run of subpartitions. So an input file that is packed once serves any number of partitions. Without
a cache the subpartitions are the job's partitions.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from data_pipeline.execution.columns import (
    concat,
    crc32_of,
    decode,
    encode,
    lengths_of,
    order_by,
    pieces,
    runs,
    values_of,
)
from data_pipeline.execution.shuffle import Block, read_blocks
from data_pipeline.pairs.schema import pairs_schema
from data_pipeline.sources.source import MESSAGES

SUBPARTITIONS = 1024
"""The most partitions that there can be, and the subpartitions of a cache."""
PAIRS_A_BATCH = 50_000
"""Stages hand on at most as many pairs at once, so that a message with a million replies, all in
one partition, does not fill the memory."""

OWN = pa.schema([MESSAGES.field(name) for name in ("id", "parent")]).append(
    pa.field("text", pa.large_string())
)
OWN = OWN.append(MESSAGES.field("dropped_by"))
"""A message in the subpartition of its own id. Dropped messages are included, to be counted once,
but without their text."""
REPLIES = OWN.append(MESSAGES.field("thread")).append(MESSAGES.field("group"))
REPLIES = REPLIES.append(MESSAGES.field("created"))
"""A message in its parent's subpartition."""


def partitions_of(ids: pa.StringArray, partitions: int) -> np.ndarray:
    """The partitions in which the replies to messages with these ids look for them [rows]."""
    return (crc32_of(ids) % SUBPARTITIONS).astype(np.int64) * partitions // SUBPARTITIONS


class Packer:
    """Packs messages by subpartition.

    Few large Arrow messages: 16 subpartitions instead of 1,024 save 0.5 microseconds a comment, of
    packing and of joining.
    """

    def __init__(self, subpartitions: int) -> None:
        self.subpartitions = subpartitions
        self._batches: list[pa.RecordBatch] = []
        self.messages = 0
        self.bytes = 0

    def add(self, messages: pa.RecordBatch) -> None:
        """Adds messages."""
        self._batches.append(messages)
        self.messages += messages.num_rows
        self.bytes += messages.nbytes

    def packed(self) -> Iterator[tuple[int, list[pa.Buffer]]]:
        """(subpartition, two messages of Arrow: its own messages, replies to them)."""
        messages = concat(self._batches, MESSAGES)
        is_reply = values_of(messages.column("parent").is_valid())
        owns = dict(self._divided(messages, "id", np.arange(len(is_reply)), OWN))
        answers = dict(self._divided(messages, "parent", np.flatnonzero(is_reply), REPLIES))
        no_own, no_answer = concat([], OWN), concat([], REPLIES)
        for subpartition in sorted(owns.keys() | answers.keys()):
            both = owns.get(subpartition, no_own), answers.get(subpartition, no_answer)
            yield subpartition, list(map(encode, both))

    def _divided(
        self, messages: pa.RecordBatch, name: str, rows: np.ndarray, schema: pa.Schema
    ) -> Iterator[tuple[int, pa.RecordBatch]]:
        """(subpartition of a column, its messages) of some rows."""
        subpartitions = partitions_of(messages.column(name), self.subpartitions)[rows]
        yield from runs(_ordered(messages, rows[order_by(subpartitions)], schema), subpartitions)


def _ordered(messages: pa.RecordBatch, rows: np.ndarray, schema: pa.Schema) -> pa.RecordBatch:
    """The columns of a schema of some rows in this order, without the texts of dropped messages."""
    dropped = values_of(messages.column("dropped_by").is_valid())[rows]
    # A null row gives a null: texts are copied once, here.
    indices = {"text": pa.array(rows, mask=dropped)}
    columns = [
        messages.column(field.name).take(indices.get(field.name, pa.array(rows)))
        for field in schema
    ]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


class OwnMessages:
    """The messages of one partition by id; of several with one id the first counts."""

    def __init__(self, batches: Sequence[pa.RecordBatch]):
        """Takes batches of the schema `OWN` in reading order."""
        self._messages = concat(batches, OWN)
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


def read_messages(blocks: Iterable[Block]) -> tuple[OwnMessages, list[pa.RecordBatch]]:
    """The messages of one partition, and the replies to them, in reading order."""
    owns, replies = [], []
    for own, answers in _decoded(blocks):
        owns.append(own)
        replies += [answers] if answers.num_rows else []
    return OwnMessages(owns), replies


def read_replies(blocks: Iterable[Block]) -> list[pa.RecordBatch]:
    """The replies alone."""
    return [replies for _, replies in _decoded(blocks)]


def _decoded(blocks: Iterable[Block]) -> Iterator[tuple[pa.RecordBatch, pa.RecordBatch]]:
    for rows in read_blocks(blocks):
        batches = list(decode(rows, (OWN, REPLIES)))
        yield from zip(batches[::2], batches[1::2], strict=True)


def pair_partition(
    blocks: Iterable[Block], *, rule_names: Sequence[str], context_turns: int
) -> Iterator[tuple[pa.RecordBatch, Counter]]:
    """Joins the replies of one partition to their parents.

    Of several messages with one id the first counts, in the order of inputs and lines. If they
    name different parents, each is paired.

    Yields:
      Batches of `pairs_schema(context_turns)` of at most `PAIRS_A_BATCH` pairs, in the order of
      the replies, each with counts: `duplicates`, `comments`, `kept`, `replies`, `pairs`,
      `dropped/RULE`.
    """
    own, replies = read_messages(blocks)
    schema = pairs_schema(context_turns)
    yield concat([], schema), own.count(rule_names)
    all_replies = concat(replies, REPLIES)
    is_first = _are_first_copies(all_replies)
    kept = is_first & values_of(all_replies.column("dropped_by").is_null())
    parents = own.rows_of(all_replies.column("parent"))
    others = values_of(pc.not_equal(all_replies.column("id"), all_replies.column("parent")))
    paired = np.flatnonzero(kept & others & own.are_kept(parents))
    yield concat([], schema), Counter(replies=int(kept.sum()))
    rows = parents.take(pa.array(paired))
    for piece in pieces(own.text_bytes(rows), rows=PAIRS_A_BATCH):
        some = all_replies.take(pa.array(paired[piece]))
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

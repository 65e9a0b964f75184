"""Comments -> input-response pairs: the join, one partition of comment ids at a time.

A comment goes to the partition of its own id, where its replies look for it, and, if it is a
reply itself, to the partition of its parent's id. Partitions are even, however many comments a
thread has. (Keyed by `link_id`, which parent and reply share, the text would travel once instead
of twice; but a thread can have a million comments, and the first months of Reddit have replies
whose parent is in another thread.)

Comments are packed by *subpartition*, of which there are always 1,024; a partition is a run of
subpartitions. So an input file that is packed once serves any number of partitions.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat
from typing import Any
from zlib import crc32

import orjson
import pyarrow as pa

from data_pipeline.execution.shuffle import PAIRS_A_BATCH, Block, Pair, read_blocks

SUBPARTITIONS = 1024

Own = tuple[str, str | int, str | None]
"""A comment in the subpartition of its own id: id, text or the index of the rule that drops it,
parent. Dropped comments are included, to be counted once."""
Reply = tuple[str, str, str | int, str, str, Any]
"""A comment in its parent's subpartition: id, parent, text or rule, thread, subreddit, created."""


def subpartition_of(comment_id: str) -> int:
    """The subpartition in which a comment's replies look for it."""
    return crc32(comment_id.encode()) % SUBPARTITIONS


def partition_of(subpartition: int, partitions: int) -> int:
    """The partition of a subpartition."""
    return subpartition * partitions // SUBPARTITIONS


class Packer:
    """Packs comments by subpartition."""

    def __init__(self) -> None:
        self._owns: list[list[Own]] = [[] for _ in range(SUBPARTITIONS)]
        self._replies: list[list[Reply]] = [[] for _ in range(SUBPARTITIONS)]
        self.messages = 0

    def add(self, messages: pa.RecordBatch) -> None:
        """Adds messages."""
        columns = (column.to_pylist() for column in messages.columns)
        for own_id, parent, thread, group, text, created, dropped_by in zip(*columns, strict=True):
            value: str | int = text if dropped_by is None else dropped_by
            self._owns[subpartition_of(own_id)].append((own_id, value, parent))
            if parent is not None:
                reply = (own_id, parent, value, thread, group, created)
                self._replies[subpartition_of(parent)].append(reply)
        self.messages += messages.num_rows

    def packed(self) -> Iterator[tuple[int, bytes]]:
        """(subpartition, two lines: columns of its own comments, columns of replies to them)."""
        for subpartition, (owns, replies) in enumerate(zip(self._owns, self._replies, strict=True)):
            if owns or replies:
                yield subpartition, b"%b\n%b\n" % (_columns(owns), _columns(replies))


def _columns(rows: list[tuple]) -> bytes:
    # By column, since the reader looks up whole columns at once.
    return orjson.dumps(list(zip(*rows, strict=True)))


class OwnComments:
    """The comments of one partition by id; of several lines with one id the first counts."""

    def __init__(self, *, with_parents: bool):
        self.values: dict[str, str | int] = {}
        """Text, or index of the rule that drops it."""
        self.parents: dict[str, str | None] | None = {} if with_parents else None
        self.duplicates = 0

    def add(self, ids: list[str], values: list[str | int], parents: list[str | None]) -> None:
        """Adds columns, in reading order."""
        if len(set(ids)) < len(ids) or not self.values.keys().isdisjoint(ids):
            # The first wins: of these, then of all.
            new = dict(zip(reversed(ids), reversed(range(len(ids))), strict=True))
            rows = sorted(row for own_id, row in new.items() if own_id not in self.values)
            self.duplicates += len(ids) - len(rows)
            ids = [ids[row] for row in rows]
            values = [values[row] for row in rows]
            parents = [parents[row] for row in rows]
        self.values.update(zip(ids, values, strict=True))
        if self.parents is not None:
            self.parents.update(zip(ids, parents, strict=True))

    def text(self, comment_id: str) -> str | None:
        """The text of a comment, or None if it is missing or dropped."""
        value = self.values.get(comment_id)
        return value if isinstance(value, str) else None

    def count(self, rule_names: Sequence[str]) -> Counter:
        """`duplicates`, `comments`, `kept` and `dropped/RULE`."""
        dropped = Counter(value for value in self.values.values() if isinstance(value, int))
        counts = Counter({f"dropped/{rule_names[rule]}": n for rule, n in dropped.items()})
        counts["duplicates"] = self.duplicates
        counts["comments"] = len(self.values)
        counts["kept"] = len(self.values) - dropped.total()
        return counts


def read_own_comments(
    blocks: Iterable[Block], *, with_parents: bool
) -> tuple[OwnComments, list[bytes]]:
    """The comments of one partition, and the replies to them, still packed."""
    own, packed_replies = OwnComments(with_parents=with_parents), []
    for rows in read_blocks(blocks):
        lines = rows.splitlines()
        for line in lines[::2]:
            columns = orjson.loads(line)
            if columns:
                own.add(*columns)
        packed_replies += lines[1::2]
    return own, packed_replies


def pair_partition(
    blocks: Iterable[Block], *, rule_names: Sequence[str], with_parents: bool
) -> Iterator[tuple[list[Pair], Counter]]:
    """Joins the replies of one partition to their parents.

    Of several lines with one id the first counts, in the order of inputs and lines. If they name
    different parents, each is paired.

    Yields:
      Batches of at least `PAIRS_A_BATCH` pairs, in the order of the replies, each with counts:
      `duplicates`, `comments`, `kept`, `replies`, `pairs`, `dropped/RULE`.
    """
    own, packed_replies = read_own_comments(blocks, with_parents=with_parents)
    yield [], own.count(rule_names)
    pairs: list[Pair] = []
    paired: set[tuple[str, str]] = set()
    replies = 0
    # From the end, so that each can be freed once it is read.
    packed_replies.reverse()
    while packed_replies:
        columns = _first_copies(orjson.loads(packed_replies.pop()), paired)
        if columns:
            replies += sum(isinstance(value, str) for value in columns[2])
            pairs += _pairs(columns, own)
        if len(pairs) >= PAIRS_A_BATCH:
            yield pairs, Counter(pairs=len(pairs))
            pairs = []
    yield pairs, Counter(pairs=len(pairs), replies=replies)


def _first_copies(columns: list[list], paired: set[tuple[str, str]]) -> list[list]:
    """The columns without replies that are in `paired` already; adds the others to it."""
    if not columns:
        return columns
    keys = list(zip(columns[0], columns[1], strict=True))
    if len(set(keys)) == len(keys) and paired.isdisjoint(keys):
        paired.update(keys)
        return columns
    rows = []
    for row, key in enumerate(keys):
        if key not in paired:
            paired.add(key)
            rows.append(row)
    return [[column[row] for row in rows] for column in columns]


def _pairs(columns: list[list], own: OwnComments) -> list[Pair]:
    """Pairs of the kept replies whose parents are kept."""
    ids, parents, values, threads, subreddits, times = columns
    texts = map(own.values.get, parents)
    before = repeat(None) if own.parents is None else map(own.parents.get, parents)
    return [
        # _make takes half the time of Pair(...).
        Pair._make((text, value, parent, reply, thread, subreddit, created, earlier, (), ()))
        for text, value, parent, reply, thread, subreddit, created, earlier in zip(
            texts, values, parents, ids, threads, subreddits, times, before, strict=False
        )
        if type(text) is str and type(value) is str and parent != reply
    ]

"""Comments -> input-response pairs: the join, one bucket of comment ids at a time.

A comment goes to the bucket of its own id, where its replies will look for it, and, if it is
a reply itself, to the bucket of its parent's id. The buckets are even, however many comments
a thread has. (Keyed by `link_id`, which parent and reply share, the text would travel once
instead of twice; but a thread can have a million comments, and the first months of Reddit
have replies whose parent stands in another thread.)

What travels is not a comment but a block: the rows that a hundred thousand comments have for
one bucket. Beam spends some 10 microseconds on an element; a block pays that once for hundreds
of comments. Rows are packed by *slot*, of which there are always as many, and a bucket is a run
of slots: so a month that is packed once serves any number of buckets.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat
from typing import Any, NamedTuple
from zlib import crc32

import orjson

from data_pipeline.execution.blocks import Block, read_blocks
from data_pipeline.reddit.comment import Comment

SLOTS = 1024
PAIRS_A_BATCH = 500
"""The join hands on as many at once, so that a comment with a million replies, all in one
bucket, does not swell it."""

Own = tuple[str, str | int, str | None]
"""A comment in the slot of its own id: id, text or the index of the rule that drops it, parent.
Dropped ones are there too, to be counted once."""
Reply = tuple[str, str, str | int, str, str, Any]
"""A comment in the slot of its parent: id, parent, text or rule, thread, subreddit, created."""


class Pair(NamedTuple):
    """A kept comment and a kept reply to it; thread, subreddit and time are the reply's."""

    input: str
    response: str
    input_id: str
    response_id: str
    thread_id: str
    subreddit: str
    created: Any
    """`created_utc` as it stands in the dump."""
    before_input: str | None
    """The id of the comment that the input, or the last of `context`, replies to."""
    context: Sequence[str] = ()
    """Texts of the turns before the input, the nearest first."""
    context_ids: Sequence[str] = ()


def slot_of(comment_id: str) -> int:
    """Where a comment's replies look for it."""
    return crc32(comment_id.encode()) % SLOTS


def bucket_of_slot(slot: int, buckets: int) -> int:
    """The bucket in which a slot lies, a run of slots being one bucket."""
    return slot * buckets // SLOTS


class Packer:
    """Packs comments by slot."""

    def __init__(self) -> None:
        self._owns: list[list[Own]] = [[] for _ in range(SLOTS)]
        self._replies: list[list[Reply]] = [[] for _ in range(SLOTS)]
        self.comments = 0

    def add(self, comment: Comment, dropped_by: int | None) -> None:
        """Adds a comment, with the index of the rule that drops it, if one does."""
        own_id, parent, thread, subreddit, _, text, created, _, _ = comment
        value: str | int = text if dropped_by is None else dropped_by
        # slot_of, but for the calls: this runs once for each comment of Reddit.
        self._owns[crc32(own_id.encode()) % SLOTS].append((own_id, value, parent))
        if parent is not None:
            reply = (own_id, parent, value, thread, subreddit, created)
            self._replies[crc32(parent.encode()) % SLOTS].append(reply)
        self.comments += 1

    def packed(self) -> Iterator[tuple[int, bytes]]:
        """(slot, two lines: the columns of its own comments and of the replies to them)."""
        for slot, (owns, replies) in enumerate(zip(self._owns, self._replies, strict=True)):
            if owns or replies:
                yield slot, b"%b\n%b\n" % (_columns(owns), _columns(replies))


def _columns(rows: list[tuple]) -> bytes:
    # Columns, since whole ones are looked up at once when they are read.
    return orjson.dumps(list(zip(*rows, strict=True)))


class OwnComments:
    """The comments of one bucket by id; of several lines with one id the first counts."""

    def __init__(self, *, with_parents: bool):
        self.values: dict[str, str | int] = {}
        """Text, or index of the rule that drops it."""
        self.parents: dict[str, str | None] | None = {} if with_parents else None
        self.duplicates = 0

    def add(self, ids: list[str], values: list[str | int], parents: list[str | None]) -> None:
        """Adds columns; they must come in reading order."""
        if len(set(ids)) < len(ids) or not self.values.keys().isdisjoint(ids):
            # The first of a kind wins: of these and, then, of all.
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
        """The text of a comment that is here and kept."""
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
    """The comments of one bucket, and the replies to them as they are packed."""
    own, packed_replies = OwnComments(with_parents=with_parents), []
    for rows in read_blocks(blocks):
        lines = rows.splitlines()
        for line in lines[::2]:
            columns = orjson.loads(line)
            if columns:
                own.add(*columns)
        packed_replies += lines[1::2]
    return own, packed_replies


def pair_bucket(
    blocks: Iterable[Block], *, rule_names: Sequence[str], with_parents: bool
) -> Iterator[tuple[list[Pair], Counter]]:
    """Joins the replies of one bucket to their parents.

    Of several lines with one id the first counts, in the order of the paths and lines. They are
    taken to name one parent, as copies of a comment do; were there two, each would be paired.

    Yields:
      `PAIRS_A_BATCH` pairs and a few at a time, in the order of the replies, with what came to
      be counted: `duplicates`, `comments`, `kept`, `replies`, `pairs`, `dropped/RULE`.
    """
    own, packed_replies = read_own_comments(blocks, with_parents=with_parents)
    yield [], own.count(rule_names)
    pairs: list[Pair] = []
    paired: set[tuple[str, str]] = set()
    replies = 0
    # From the end, so that each can be let go once it is read.
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
    """The columns without replies that were there before; notes the ones that are there."""
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
    """The kept replies whose parents are kept, with them."""
    ids, parents, values, threads, subreddits, times = columns
    texts = map(own.values.get, parents)
    before = repeat(None) if own.parents is None else map(own.parents.get, parents)
    return [
        # _make is half of what a call of the class costs.
        Pair._make((text, value, parent, reply, thread, subreddit, created, earlier, (), ()))
        for text, value, parent, reply, thread, subreddit, created, earlier in zip(
            texts, values, parents, ids, threads, subreddits, times, before, strict=False
        )
        if type(text) is str and type(value) is str and parent != reply
    ]

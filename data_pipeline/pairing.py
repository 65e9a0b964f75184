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
from typing import Any, NamedTuple
from zlib import crc32

import orjson

from data_pipeline.blocks import Block, read_blocks
from data_pipeline.comments import Comment

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
        """(slot, two lines: the rows of its own comments and of the replies to them)."""
        for slot, (owns, replies) in enumerate(zip(self._owns, self._replies, strict=True)):
            if owns or replies:
                yield slot, b"%b\n%b\n" % (orjson.dumps(owns), orjson.dumps(replies))


class OwnComments:
    """The comments of one bucket by id; of several lines with one id the first counts."""

    def __init__(self, *, with_parents: bool):
        self.values: dict[str, str | int] = {}
        """Text, or index of the rule that drops it."""
        self.parents: dict[str, str | None] | None = {} if with_parents else None
        self.duplicates = 0

    def add(self, rows: list[Own]) -> None:
        """Adds rows; they must come in reading order."""
        values, parents = self.values, self.parents
        for own_id, value, parent in rows:
            if own_id in values:
                self.duplicates += 1
                continue
            values[own_id] = value
            if parents is not None:
                parents[own_id] = parent

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
            own.add(orjson.loads(line))
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
    texts, parents = own.values, own.parents
    pairs: list[Pair] = []
    paired: set[tuple[str, str]] = set()
    replies = 0
    # From the end, so that each can be let go once it is read.
    packed_replies.reverse()
    while packed_replies:
        for row in orjson.loads(packed_replies.pop()):
            reply_id, parent, value, thread, subreddit, created = row
            if (reply_id, parent) in paired:
                continue
            paired.add((reply_id, parent))
            if isinstance(value, int):
                continue
            replies += 1
            text = texts.get(parent)
            if not isinstance(text, str) or parent == reply_id:
                continue
            before = parents[parent] if parents is not None else None
            fields = (text, value, parent, reply_id, thread, subreddit, created, before, (), ())
            pairs.append(Pair._make(fields))
        if len(pairs) >= PAIRS_A_BATCH:
            yield pairs, Counter(pairs=len(pairs))
            pairs = []
    yield pairs, Counter(pairs=len(pairs), replies=replies)

"""Comments -> input-response pairs: the join, one bucket of comment ids at a time.

A comment goes to the bucket of its own id, where its replies will look for it, and, if it is
a reply itself, to the bucket of its parent's id. The buckets are even, however many comments
a thread has. (Keyed by `link_id`, which parent and reply share, the text would travel once
instead of twice; but a thread can have a million comments, and the first months of Reddit
have replies whose parent stands in another thread.)

What travels is not a comment but a *packed batch*: the rows that one batch of lines has for
one bucket, as one JSON text. Beam spends about 10 microseconds on an element; a batch pays
that once for dozens of comments.
"""

import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import orjson

from data_pipeline.comments import Comment

PackedBatch = tuple[str, int, bytes]
"""The dump's path, the batch's first line, and the rows. Sorting puts rows in reading order."""


class Own(NamedTuple):
    """A comment in the bucket of its own id. Dropped ones are there too, to be counted once."""

    id: str
    dropped_by: str | None
    is_reply: bool
    text: str


class Reply(NamedTuple):
    """A comment in the bucket of its parent's id."""

    id: str
    dropped_by: str | None
    parent: str
    thread: str
    subreddit: str
    text: str


class Pair(NamedTuple):
    """A kept comment and a kept reply to it; thread and subreddit are the reply's."""

    input: str
    response: str
    input_id: str
    response_id: str
    thread_id: str
    subreddit: str


class BatchPacker:
    """Packs the comments of one batch of lines by bucket."""

    def __init__(self, buckets: int):
        self._buckets = buckets
        self._rows: dict[int, tuple[list[Own], list[Reply]]] = defaultdict(lambda: ([], []))

    def add(self, comment: Comment, dropped_by: str | None) -> None:
        """Adds a comment, with the name of the rule that drops it, if one does."""
        parent = comment.parent_comment
        text = comment.text if dropped_by is None else ""
        owns, _ = self._rows[self._bucket(comment.id)]
        owns.append(Own(comment.id, dropped_by, parent is not None, text))
        if parent is not None:
            _, replies = self._rows[self._bucket(parent)]
            replies.append(
                Reply(comment.id, dropped_by, parent, comment.thread, comment.subreddit, text)
            )

    def _bucket(self, comment_id: str) -> int:
        return zlib.crc32(comment_id.encode()) % self._buckets

    def packed(self, *, path: str, first_line: int) -> Iterator[tuple[int, PackedBatch]]:
        """The (bucket, packed batch) elements for the join."""
        for bucket, rows in self._rows.items():
            # orjson leaves named tuples to `default`.
            yield bucket, (path, first_line, orjson.dumps(rows, default=tuple))


def pair_bucket(batches: Iterable[PackedBatch]) -> tuple[list[Pair], Counter]:
    """Joins the replies of one bucket to their parents.

    Of several lines with one id the first counts, in the order of the paths and lines. They are
    taken to name one parent, as copies of a comment do; were there two, each would be paired.

    Returns:
      The pairs, in the order of the replies, and the counts that the join knows:
      `duplicates`, `comments`, `kept`, `replies`, `pairs` and `dropped/RULE`.
    """
    comments: dict[str, Own] = {}
    replies: dict[tuple[str, str], Reply] = {}
    counts: Counter = Counter()
    for _, _, packed in sorted(batches):
        own_rows, reply_rows = orjson.loads(packed)
        for row in own_rows:
            counts["duplicates"] += row[0] in comments
            comments.setdefault(row[0], Own(*row))
        for row in reply_rows:
            reply = Reply(*row)
            replies.setdefault((reply.id, reply.parent), reply)
    texts = {own.id: own.text for own in comments.values() if own.dropped_by is None}
    pairs = [
        _pair(texts[reply.parent], reply)
        for reply in replies.values()
        if reply.dropped_by is None and reply.parent in texts and reply.parent != reply.id
    ]
    counts += _count(comments.values())
    counts["pairs"] += len(pairs)
    return pairs, counts


def _count(comments: Iterable[Own]) -> Counter:
    counts: Counter = Counter()
    for comment in comments:
        counts["comments"] += 1
        if comment.dropped_by is not None:
            counts[f"dropped/{comment.dropped_by}"] += 1
            continue
        counts["kept"] += 1
        counts["replies"] += comment.is_reply
    return counts


def _pair(input_text: str, reply: Reply) -> Pair:
    return Pair(
        input=input_text,
        response=reply.text,
        input_id=reply.parent,
        response_id=reply.id,
        thread_id=reply.thread,
        subreddit=reply.subreddit,
    )

"""The fields of a comment in a Pushshift dump, and what their values mean.

The dumps hold one JSON object a line, and their fields come and go over the years; the six that are
required here have always been there. `id` has no `t1_`, but `parent_id` does; a parent that begins
with `t3_` is the post itself.
"""

import html
from typing import Any

import msgspec

COMMENT_PREFIX = "t1_"
LAST_SECOND = 2**33
"""Times from this one on (in the year 2242) are invalid."""


class Comment(msgspec.Struct, gc=False):
    """The fields of a line that are used, as in the dump."""

    id: str
    parent_id: str
    link_id: str
    """The thread, which a reply shares with its parent."""
    subreddit: str
    author: str
    body: str
    created_utc: Any = None
    score: Any = None
    """Upvotes less downvotes when the dump was made."""
    over_18: Any = None
    """Whether the dump marks it as for adults only; few dumps have this field."""


DECODER = msgspec.json.Decoder(Comment)
"""Three times as fast as orjson, since it makes nothing of the other fields. It does not check
that these are UTF-8."""


def unescaped(body: str) -> str:
    """A body with HTML entities unescaped; itself if a reference has thousands of digits."""
    try:
        return html.unescape(body)
    except ValueError:
        return body


def whole_number(value: Any) -> int | None:
    """A number as dumps of different years write it: 12, 12.0 or "12"; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        return int(value)
    except (ValueError, OverflowError):
        pass
    try:
        return int(float(value))
    except (ValueError, OverflowError):
        return None


def seconds(value: Any) -> int | None:
    """Seconds since 1970, UTC, or None for an invalid time."""
    number = whole_number(value)
    return number if number is not None and 0 <= number < LAST_SECOND else None

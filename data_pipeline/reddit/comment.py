"""One line of a Pushshift dump -> a `Comment`, or why it is not one.

The dumps hold one JSON object a line, and its fields come and go over the years; the six of
`FIELDS` have always been there. `id` stands without the `t1_` that `parent_id` carries; a
parent that begins with `t3_` is the post itself, so that the comment opens a thread. The other
fields are kept as they stand, and None where they do not; few comments need them read.
"""

import html
from operator import itemgetter
from typing import Any, NamedTuple

import orjson

FIELDS = ("id", "parent_id", "link_id", "subreddit", "author", "body")
COMMENT_PREFIX = "t1_"
LAST_SECOND = 2**33
"""A time of this many seconds (in the year 2242) or more is no time."""
KEPT_OF_TOO_LONG = 1000
"""Bytes of a line, or characters of an example, that are kept where the whole is too long."""

_get_fields = itemgetter(*FIELDS)
_NESTED = (list, dict)
_ALL_STRINGS = (str,) * len(FIELDS)


class MalformedLineError(ValueError):
    """The line is no comment; the message says why and becomes the dead letter's reason."""


class Comment(NamedTuple):
    """A comment as the filters and the join see it; ids as in the dump, without `t1_`."""

    id: str
    parent_comment: str | None
    """The id of the comment it replies to; None when it replies to a post."""
    thread: str
    """The `link_id`, which a reply shares with its parent."""
    subreddit: str
    author: str
    text: str
    """The body with HTML entities unescaped and outer white space stripped."""
    created: Any = None
    """`created_utc` as it stands, but for lists and objects; `seconds` reads it."""
    score: Any = None
    """Votes for it less votes against it when the dump was made; `whole_number` reads it."""
    over_18: Any = None
    """Whether the dump marks it as not for children; few months have this field."""


def parse_comment(line: bytes) -> Comment:
    """Reads one line of a dump.

    Raises:
      MalformedLineError: if the line is not a JSON object with all of `FIELDS` as strings.
    """
    try:
        fields = orjson.loads(line)
        values = _get_fields(fields)
    except orjson.JSONDecodeError as error:
        raise MalformedLineError(f"not JSON: {error}") from None
    except (KeyError, TypeError, IndexError):
        raise MalformedLineError(_what_is_wrong(fields)) from None
    own_id, parent, thread, subreddit, author, body = values
    kinds = type(own_id), type(parent), type(thread), type(subreddit), type(author), type(body)
    if kinds != _ALL_STRINGS:
        raise MalformedLineError(_what_is_wrong(fields))
    get = fields.get
    created = get("created_utc")
    if type(created) in _NESTED:
        # No time, and deeper ones are read than can be written again.
        created = None
    is_reply = parent.startswith(COMMENT_PREFIX)
    # _make is half of what a call of the class costs.
    return Comment._make(
        (
            own_id.removeprefix(COMMENT_PREFIX),
            parent.removeprefix(COMMENT_PREFIX) if is_reply else None,
            thread,
            subreddit,
            author,
            html.unescape(body).strip(),
            created,
            get("score"),
            get("over_18"),
        )
    )


def _what_is_wrong(fields: Any) -> str:
    if not isinstance(fields, dict):
        return f"not a JSON object but {type(fields).__name__}"
    name = next(name for name in FIELDS if not isinstance(fields.get(name), str))
    found = type(fields[name]).__name__ if name in fields else "missing"
    return f"field {name!r} must be a string, but is {found}"


def dead_letter(*, path: str, line_number: int, reason: str, line: bytes) -> bytes:
    """One line of `dead_letters-*.jsonl`; bytes that are no UTF-8 stand as backslash escapes."""
    raw = line.decode(errors="backslashreplace")
    return orjson.dumps(
        {"file": path, "line": line_number, "reason": reason, "raw": raw},
        option=orjson.OPT_APPEND_NEWLINE,
    )


def whole_number(value: Any) -> int | None:
    """A number as the years wrote it: 12, 12.0 or "12"."""
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
    """A time since 1970, UTC, or None for what is none."""
    number = whole_number(value)
    return number if number is not None and 0 <= number < LAST_SECOND else None

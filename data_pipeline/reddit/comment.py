"""One line of a Pushshift dump -> a `Comment`.

The dumps hold one JSON object a line, and its fields come and go over the years; the six of
`FIELDS` have always been there. `id` has no `t1_`, but `parent_id` does; a parent that begins
with `t3_` is the post itself. The other fields are kept as they are, or None if they are missing;
few comments need them parsed.
"""

import html
from operator import itemgetter
from typing import Any, NamedTuple

import orjson

from data_pipeline.files.malformed_lines import MalformedLineError

FIELDS = ("id", "parent_id", "link_id", "subreddit", "author", "body")
COMMENT_PREFIX = "t1_"
LAST_SECOND = 2**33
"""Times from this one on (in the year 2242) are invalid."""

_get_fields = itemgetter(*FIELDS)
_NESTED = (list, dict)
_ALL_STRINGS = (str,) * len(FIELDS)


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
    """`created_utc` as in the dump, but None for lists and objects; `seconds` parses it."""
    score: Any = None
    """Upvotes less downvotes when the dump was made; `whole_number` parses it."""
    over_18: Any = None
    """Whether the dump marks it as for adults only; few dumps have this field."""


def parse_comment(line: bytes) -> Comment:
    """Parses one line of a dump.

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
        # Not a time, and JSON may be nested deeper than can be serialized again.
        created = None
    is_reply = parent.startswith(COMMENT_PREFIX)
    # _make takes half the time of Comment(...).
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

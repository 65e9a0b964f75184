"""One line of a Pushshift dump -> a `Comment`.

The dumps hold one JSON object a line, and its fields come and go over the years; the six of
`FIELDS` have always been there. `id` has no `t1_`, but `parent_id` does; a parent that begins
with `t3_` is the post itself. The other fields are kept as they are, or None if they are missing;
few comments need them parsed.
"""

import html
import re
import sys
from typing import Any, NamedTuple

import msgspec
import orjson

from data_pipeline.storage.malformed_lines import NOT_JSON, MalformedLineError

FIELDS = ("id", "parent_id", "link_id", "subreddit", "author", "body")
COMMENT_PREFIX = "t1_"
LAST_SECOND = 2**33
"""Times from this one on (in the year 2242) are invalid."""


class Fields(msgspec.Struct, gc=False):
    """The fields of a line that are used: `FIELDS`, and others that may be anything."""

    id: str
    parent_id: str
    link_id: str
    subreddit: str
    author: str
    body: str
    created_utc: Any = None
    score: Any = None
    over_18: Any = None


DECODER = msgspec.json.Decoder(Fields)
"""Three times as fast as orjson, since it makes nothing of the other fields. It does not check
that these are UTF-8."""


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


def parse_fields(line: bytes) -> Fields:
    """Parses one line of a dump.

    Raises:
      MalformedLineError: if the line is not a JSON object with all of `FIELDS` as strings.
    """
    try:
        line.decode()
        return DECODER.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return _parse_again(line)


def _parse_again(line: bytes) -> Fields:
    """Parses what msgspec does not, such as a field that is there twice; or says what is wrong."""
    try:
        fields = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise MalformedLineError(f"{NOT_JSON}: {error}") from None
    if not isinstance(fields, dict) or not all(
        isinstance(fields.get(name), str) for name in FIELDS
    ):
        raise MalformedLineError(_what_is_wrong(fields))
    used: dict[str, Any] = {name: fields.get(name) for name in Fields.__struct_fields__}
    return Fields(**used)


def parse_comment(line: bytes) -> Comment:
    """Parses one line of a dump; the rules on single comments and the tests look at this.

    Raises:
      MalformedLineError: if the line is not a JSON object with all of `FIELDS` as strings.
    """
    fields = parse_fields(line)
    is_reply = fields.parent_id.startswith(COMMENT_PREFIX)
    return Comment(
        fields.id.removeprefix(COMMENT_PREFIX),
        fields.parent_id.removeprefix(COMMENT_PREFIX) if is_reply else None,
        fields.link_id,
        fields.subreddit,
        fields.author,
        unescaped(fields.body).strip(),
        None if isinstance(fields.created_utc, list | dict) else fields.created_utc,
        fields.score,
        fields.over_18,
    )


def unescaped(body: str) -> str:
    """A body with HTML entities unescaped; references of more digits than Python reads stay."""
    try:
        return html.unescape(body)
    except ValueError:
        digits = sys.get_int_max_str_digits() + 1
        parts = re.split(f"(&#[0-9]{{{digits},}};?)", body)
        parts[::2] = map(html.unescape, parts[::2])
        return "".join(parts)


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

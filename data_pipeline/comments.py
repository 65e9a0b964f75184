"""One line of a Pushshift dump -> a `Comment`, or why it is not one.

The dumps hold one JSON object a line, and its fields come and go over the years; these six
have always been there. `id` stands without the `t1_` that `parent_id` carries; a parent that
begins with `t3_` is the post itself, so that the comment opens a thread.
"""

import html
from typing import NamedTuple

import orjson

FIELDS = ("id", "parent_id", "link_id", "subreddit", "author", "body")
COMMENT_PREFIX = "t1_"


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


def parse_comment(line: bytes) -> Comment:
    """Reads one line of a dump.

    Raises:
      MalformedLineError: if the line is not a JSON object with all of `FIELDS` as strings.
    """
    try:
        fields = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise MalformedLineError(f"not JSON: {error}") from None
    if not isinstance(fields, dict):
        raise MalformedLineError(f"not a JSON object but {type(fields).__name__}")
    values = []
    for name in FIELDS:
        value = fields.get(name)
        if not isinstance(value, str):
            found = "missing" if name not in fields else type(value).__name__
            raise MalformedLineError(f"field {name!r} must be a string, but is {found}")
        values.append(value)
    own_id, parent, thread, subreddit, author, body = values
    return Comment(
        id=own_id.removeprefix(COMMENT_PREFIX),
        parent_comment=_parent_comment(parent),
        thread=thread,
        subreddit=subreddit,
        author=author,
        text=html.unescape(body).strip(),
    )


def _parent_comment(parent_id: str) -> str | None:
    if parent_id.startswith(COMMENT_PREFIX):
        return parent_id.removeprefix(COMMENT_PREFIX)
    return None

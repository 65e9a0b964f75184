"""Lines of a Pushshift dump -> comments -> columns.

The dumps hold one JSON object a line, and their fields come and go over the years; the five that
are required here have always been there. `id` has no `t1_`, but `parent_id` does; a parent that
begins with `t3_` is the submission itself, of which other dumps have the title and the text.

What columns cannot do exactly, such as HTML entities and lines that are no JSON, is done row by
row. A test holds both ways to the same answer on any line.
"""

import html
from contextlib import suppress
from typing import Any, TypeVar

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from common.text_files import load_json
from data_pipeline.sources.markup import without_entities
from data_pipeline.storage.lines import LineBatch, MalformedLine

_COMMENT_PREFIX, SUBMISSION_PREFIX = "t1_", "t3_"
_LAST_SECOND = 2**33
"""Times from this one on (in the year 2242) are invalid."""
_SPACES = "".join(character for character in map(chr, range(0x3001)) if character.isspace())
"""All characters that `str.strip` strips."""


class Comment(msgspec.Struct, gc=False):
    """The fields of a line that are used, as in the dump."""

    id: str
    parent_id: str
    link_id: str
    """The thread, which a reply shares with its parent."""
    subreddit: str
    body: str
    author: str | None = None
    created_utc: Any = None
    score: Any = None
    """Upvotes less downvotes when the dump was made."""
    meta: Any = msgspec.field(name="_meta", default=None)
    """Since November 2023, what the dump's makers found out when they asked again after 36 hours:
    https://github.com/ArthurHeitmann/arctic_shift/blob/master/file_content_explanations.md."""


class Submission(msgspec.Struct, gc=False):
    """The same of a line of a dump of submissions; an advertisement has no subreddit."""

    id: str
    title: str
    selftext: str | None = None
    subreddit: str = ""
    author: str | None = None
    created_utc: Any = None
    score: Any = None
    meta: Any = msgspec.field(name="_meta", default=None)

    def as_comment(self) -> Comment:
        """A comment without a text that replies to nothing and begins a thread."""
        name = SUBMISSION_PREFIX + self.id.removeprefix(SUBMISSION_PREFIX)
        about = self.author, self.created_utc, self.score, self.meta
        return Comment(name, "", name, self.subreddit, "", *about)


DECODER = msgspec.json.Decoder(Comment)
"""Three times as fast as orjson, since it makes nothing of the other fields. It does not check
that these are UTF-8."""
SUBMISSION_DECODER = msgspec.json.Decoder(Submission)
T = TypeVar("T", Comment, Submission)


def parse_batch(
    batch: LineBatch, decoder: msgspec.json.Decoder[T]
) -> tuple[list[T], list[MalformedLine]]:
    """The comments or submissions of some lines, and the lines that are none."""
    with suppress(msgspec.MsgspecError, pa.ArrowInvalid, RecursionError):
        pa.array([batch.content], pa.binary()).cast(pa.string())  # fails if it is not UTF-8
        comments = decoder.decode_lines(batch.content)
        if len(comments) == batch.number_of_lines:
            return comments, []
    return _parse_one_by_one(batch, decoder)


def _parse_one_by_one(
    batch: LineBatch, decoder: msgspec.json.Decoder[T]
) -> tuple[list[T], list[MalformedLine]]:
    comments, malformed = [], []
    for index, line in enumerate(batch.lines):
        try:
            line.decode()
            comments.append(load_json(line, decoder.decode))
        except UnicodeDecodeError as error:
            malformed.append(batch.malformed(index, line, f"not UTF-8: {error}"))
        except (msgspec.MsgspecError, RecursionError) as error:
            malformed.append(batch.malformed(index, line, str(error)))
    return comments, malformed


def was_deleted_later(meta: Any) -> bool:
    """Whether a comment was gone when the makers of the dump asked again.

    Its author deleted it, or others removed it. (With `removal_type` alone it is there again.)
    """
    return isinstance(meta, dict) and meta.get("was_deleted_later") is True


def without_prefix(ids: Any) -> tuple[Any, Any]:
    """The ids without `t1_` at their start, and whether they had it [rows]."""
    has_prefix = pc.starts_with(ids, _COMMENT_PREFIX)
    if not pc.any(has_prefix).as_py():
        return ids, has_prefix
    rest = pc.utf8_slice_codeunits(ids, len(_COMMENT_PREFIX))
    return pc.if_else(has_prefix, rest, ids), has_prefix


def texts_of(bodies: list[str]) -> Any:
    """The bodies with HTML entities unescaped and white space stripped, large_string [rows]."""
    texts = [unescaped(body) if "&" in body else body for body in bodies]
    return pc.utf8_trim(pa.array(texts, pa.large_string()), characters=_SPACES)


def seconds_of(values: list[Any]) -> Any:
    """`seconds` of each value, int64 [rows]."""
    kinds = set(map(type, values))
    times = None
    with suppress(OverflowError, pa.ArrowInvalid):
        if kinds == {int}:
            times = pa.array(values, pa.int64())
        elif kinds == {str}:
            texts = pa.array(values, pa.string())
            if pc.all(pc.ascii_is_decimal(texts)).as_py():
                times = texts.cast(pa.int64())
    if times is None or pc.min(times).as_py() < 0 or pc.max(times).as_py() >= _LAST_SECOND:
        times = pa.array(list(map(seconds, values)), pa.int64())
    return times


def unescaped(body: str) -> str:
    """A body with HTML entities unescaped; itself if a reference has thousands of digits.

    Twice: the dumps escape what is itself Markdown with entities, such as `&amp;nbsp;`.
    """
    try:
        return without_entities(html.unescape(body))
    except ValueError:
        return body


def whole_number(value: Any) -> int | None:
    """A number as dumps of different years write it: 12, 12.0 or "12"; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    for read in (int, float):
        with suppress(ValueError, OverflowError):
            return int(read(value))
    return None


def seconds(value: Any) -> int | None:
    """Seconds since 1970, UTC, or None for an invalid time."""
    number = whole_number(value)
    return number if number is not None and 0 <= number < _LAST_SECOND else None

"""Lines of a dump -> comments -> columns.

What columns cannot do exactly, such as HTML entities and lines that are no JSON, is done row by
row. A test holds both ways to the same answer on any line.
"""

from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from data_pipeline.execution.columns import bytes_of, lengths_of, values_of
from data_pipeline.sources.reddit.comment import (
    COMMENT_PREFIX,
    DECODER,
    LAST_SECOND,
    Comment,
    seconds,
    unescaped,
)
from data_pipeline.storage.lines import LINE_FEED, LineBatch
from data_pipeline.storage.malformed_lines import MalformedLine

_SPACES = "".join(character for character in map(chr, range(0x3001)) if character.isspace())
"""All characters that `str.strip` strips."""
_DIGITS = 18
"""Decimal digits that fit into 64 bits."""


def parse_batch(batch: LineBatch) -> tuple[list[Comment], list[MalformedLine]]:
    """The comments of some lines, and the lines that are none."""
    if _is_one_object_a_line(batch.content, batch.number_of_lines):
        try:
            comments = DECODER.decode_lines(batch.content)
            if len(comments) == batch.number_of_lines:
                return comments, []
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            pass
    return _parse_one_by_one(batch)


def _is_one_object_a_line(content: bytes, lines: int) -> bool:
    """Whether the lines are UTF-8, and each can be one JSON object and not a part of one.

    JSON has no line feed inside a string, and no object that starts behind another without a
    comma. So between `}` and `{` a line feed ends a value, and as many objects as lines are one
    on each.
    """
    if not (content.startswith(b"{") and content.endswith(b"}")):
        return False
    data = np.frombuffer(content, np.uint8)
    ends = (data[1:-1] == LINE_FEED) & (data[:-2] == ord("}")) & (data[2:] == ord("{"))
    if np.count_nonzero(ends) < lines - 1:
        return False
    if content.isascii():
        return True
    offsets = pa.py_buffer(np.array([0, len(content)], np.int64))
    text = pa.LargeStringArray.from_buffers(1, offsets, pa.py_buffer(content))
    try:
        text.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def _parse_one_by_one(batch: LineBatch) -> tuple[list[Comment], list[MalformedLine]]:
    comments, malformed = [], []
    for index, line in enumerate(batch.lines):
        try:
            line.decode()
            comments.append(DECODER.decode(line))
        except UnicodeDecodeError as error:
            malformed.append(batch.malformed(index, line, f"not UTF-8: {error}"))
        except (msgspec.MsgspecError, RecursionError) as error:
            malformed.append(batch.malformed(index, line, str(error)))
    return comments, malformed


def without_prefix(ids: Any) -> tuple[Any, Any]:
    """The ids without `t1_` at their start, and whether they had it [rows]."""
    has_prefix = pc.starts_with(ids, COMMENT_PREFIX)
    if not pc.any(has_prefix).as_py():
        return ids, has_prefix
    rest = pc.utf8_slice_codeunits(ids, len(COMMENT_PREFIX))
    return pc.if_else(has_prefix, rest, ids), has_prefix


def texts_of(bodies: list[str]) -> Any:
    """The bodies with HTML entities unescaped and white space stripped, large_string [rows]."""
    texts = [unescaped(body) if "&" in body else body for body in bodies]
    return pc.utf8_trim(pa.array(texts, pa.large_string()), characters=_SPACES)


def seconds_of(values: list[Any]) -> Any:
    """`seconds` of each value, int64 [rows]."""
    try:
        if values and isinstance(values[0], str):
            # Of anything else than texts Arrow makes an error or a null.
            texts = pa.array(values, pa.string())
            lengths = lengths_of(texts)
            is_digit = bytes_of(texts)[: lengths.sum()] - ord("0") < 10  # others wrap around
            if is_digit.all() and lengths.min() > 0 and lengths.max() <= _DIGITS:
                return _valid(texts.cast(pa.int64()))
        elif set(map(type, values)) == {int}:
            return _valid(pa.array(values, pa.int64()))
    except (OverflowError, pa.ArrowException):
        pass
    return pa.array(list(map(seconds, values)), pa.int64())


def _valid(times: Any) -> Any:
    is_valid = values_of(pc.greater_equal(times, 0)) & values_of(pc.less(times, LAST_SECOND))
    return times if is_valid.all() else pc.if_else(pa.array(is_valid), times, None)

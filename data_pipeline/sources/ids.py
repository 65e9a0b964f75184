"""Ids of messages within their scope: made by a source, compared by the join, published without it.

While a job runs, an id that is unique in a file or thread alone is FILE<US>THREAD<US>ID, where FILE
or THREAD may be empty and <US> is a control character.

A parent is looked for as it is written, then as a whole number: in a column with missing values
pandas writes 12 as 12.0. At last it is looked for among messages without a thread, since some
exports leave out the thread of a message that starts one.
"""

from typing import Any

import pyarrow.compute as pc

from data_pipeline.execution.columns import bytes_of

_SEPARATOR = "\x1f"
_BEFORE_ID = r"(?s)^.*\x1f"
_THREAD = r"(?s)\x1f.*\x1f"
_NO_THREAD = 2 * _SEPARATOR
_WHOLE = r"(^|\x1f)(-?[0-9]+)\.0+$"


def scoped(ids: Any, *, file: str, threads: Any) -> Any:
    """The ids with the file and the threads that they belong to, [rows]; null stays null."""
    return pc.binary_join_element_wise(file, threads.fill_null(""), ids, _SEPARATOR)


def published(ids: Any) -> Any:
    """The ids as the input has them, strings [rows]."""
    if not _have(ids, _SEPARATOR):
        return ids
    return pc.replace_substring_regex(ids, pattern=_BEFORE_ID, replacement="")


def whole(ids: Any) -> Any:
    """The ids, 12 for 12.0, strings [rows]."""
    if not _have(ids, "."):
        return ids
    return pc.replace_substring_regex(ids, pattern=_WHOLE, replacement=r"\1\2")


def rows_of(ids: Any, messages: Any) -> Any:
    """The row of the message that each id names, null where there is none, int32 [ids]."""
    rows = pc.index_in(ids, value_set=messages)
    if rows.null_count > ids.null_count:
        wanted, known = whole(ids), whole(messages)
        if wanted is not ids or known is not messages:
            rows = pc.coalesce(rows, pc.index_in(wanted, value_set=known))
        if _have(ids, _SEPARATOR):
            in_none = pc.replace_substring_regex(wanted, pattern=_THREAD, replacement=_NO_THREAD)
            rows = pc.coalesce(rows, pc.index_in(in_none, value_set=known))
    return rows


def _have(ids: Any, character: str) -> bool:
    """Whether an ASCII character is in any of the strings."""
    return bool((bytes_of(ids) == ord(character)).any())

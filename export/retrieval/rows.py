"""Files or a list in, rows to index out: texts, with the id and the other fields that they have."""

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from itertools import starmap
from pathlib import Path
from typing import Any, NamedTuple

from common.errors import InputError, message_of
from common.text_files import JSON_LINES, is_visible, parse_rows
from model.teacher.texts import REPLIES, TEXT_FILES, kind_of, read_messages, read_texts

TABLES = (".csv", ".tsv", *JSON_LINES)
KINDS = (*TEXT_FILES, *TABLES)
_TEXT, _ID = "text", "id"
"""Fields of a list's dictionaries, unless others are named."""


class Row(NamedTuple):
    """A text to index."""

    text: str
    """Without white space around it."""
    id: str | None = None
    fields: dict[str, Any] | None = None
    """Of a table: all other fields of its row."""


class Names(NamedTuple):
    """The fields of tables with the text and with the id."""

    text: str | None = None
    id: str | None = None


def of_file(path: Path, names: Names, *, both: bool = False) -> Iterator[Row]:
    """The rows of a file, in its order; its name says how to read it.

    Of a pair the response is a row; with `both` the input, too, each with its message's id.

    Raises:
      InputError: if it cannot be read, or needs the name of a field; names the line.
    """
    kind = kind_of(path)
    if kind not in TABLES or (kind in TEXT_FILES and names.text is None):
        return starmap(Row, read_messages(path)) if both else map(Row, read_texts([path], REPLIES))
    if names.text is None:
        raise InputError(f"--text_field is missing: the field of {str(path)!r} to index")
    columns = {name: [name] for name in names if name is not None}
    return filter(None, parse_rows(path, partial(_row_of, names=names), columns=columns))


def of_list(rows: Iterable[str | Mapping[str, Any]], names: Names) -> Iterator[Row]:
    """The rows of a list of texts, or of dictionaries with a text each.

    Raises:
      InputError: if one has no text, or no id where the field is named; names its index.
    """
    for number, given in enumerate(rows):
        record = {_TEXT: given} if isinstance(given, str) else given
        try:
            has_id = names.id is not None or (isinstance(record, Mapping) and _ID in record)
            own = Names(names.text or _TEXT, (names.id or _ID) if has_id else None)
            row = _row_of(record, own if isinstance(given, Mapping) else Names(_TEXT))
        except ValueError as error:
            raise InputError(f"rows[{number}]: {message_of(error)}") from error
        if row is not None:
            yield row


def _row_of(record: Any, names: Names) -> Row | None:
    """A row; None where its text is null or has no visible character.

    Raises:
      ValueError: if the text is no text, or the id neither text nor a whole number.
    """
    if not isinstance(record, Mapping):
        raise ValueError(f"{type(record).__name__}; accepted: an object with fields")
    for name in filter(None, names):
        if name not in record:
            raise ValueError(f"has no field {name!r}; its fields: {', '.join(record)}")
    text = record[names.text]
    if text is None:
        return None
    if not isinstance(text, str):
        raise ValueError(f"the field {names.text!r} is {text!r}; accepted: text")
    own_id = None
    if names.id is not None:
        own_id = record[names.id]
        if own_id in ("", None) or isinstance(own_id, bool) or not isinstance(own_id, str | int):
            raise ValueError(f"the field {names.id!r} is {own_id!r}; accepted: text, whole numbers")
    others = {name: value for name, value in record.items() if name not in names}
    row = Row(text.strip(), None if own_id is None else str(own_id), others)
    return row if is_visible(text) else None

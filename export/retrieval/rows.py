"""Files in, rows to index out: texts, with the id and the other fields that they have."""

from collections.abc import Iterator
from functools import partial
from itertools import starmap
from pathlib import Path
from typing import Any, NamedTuple

from common.errors import InputError
from common.text_files import JSON_LINES, is_visible, parse_rows
from model.teacher.texts import REPLIES, TEXT_FILES, kind_of, read_messages, read_texts

TABLES = (".csv", ".tsv", *JSON_LINES)
KINDS = (*TEXT_FILES, *TABLES)


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


def _row_of(record: dict[str, Any], names: Names) -> Row | None:
    """A row; None where its text has no visible character.

    Raises:
      ValueError: if the text is no text, or the id neither text nor a whole number.
    """
    text, own_id = record[str(names.text)], record.get(names.id or "")
    if not isinstance(text, str):
        raise ValueError(f"the field {names.text!r} is {text!r}; accepted: text")
    if names.id is not None and (own_id == "" or not isinstance(own_id, str | int)):
        raise ValueError(f"the field {names.id!r} is {own_id!r}; accepted: text, whole numbers")
    others = {name: value for name, value in record.items() if name not in names}
    row = Row(text.strip(), None if names.id is None else str(own_id), others)
    return row if is_visible(text) else None

"""Files in, rows to index out: texts, with the id and the other fields that they have."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import starmap
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from common.errors import InputError, reading
from common.tables import JSON_LINES, parse_rows
from common.text_files import is_visible
from model.teacher.texts import REPLIES, TEXT_FILES, kind_of, read_messages, read_texts

TABLES = (".csv", ".tsv", *JSON_LINES)
KINDS = (*TEXT_FILES, *TABLES)

_TEXT, _ID = "text", "id"
"""Fields of rows from Python, unless others are named."""


class Row(NamedTuple):
    """A text to index."""

    text: str  # without white space around it
    id: str | None = None
    fields: str = "{}"  # JSON: of a table all other fields of its row


def of_file(
    path: Path, *, text_field: str | None, id_field: str | None, both: bool
) -> Iterator[Row]:
    """The rows of a file, in its order, without texts that have no visible character.

    Of a pair the response is a row; with `both` the input, too, each with its message's id.

    Raises:
      InputError: if it cannot be read, or needs the name of a field; names the line.
    """
    kind = kind_of(path)
    if kind not in TABLES or (kind in TEXT_FILES and text_field is None):
        return starmap(Row, read_messages(path)) if both else map(Row, read_texts([path], REPLIES))
    if text_field is None:
        raise InputError(f"--text_field is missing: the field of {str(path)!r} to index")
    columns = {name: [name] for name in (text_field, id_field) if name is not None}

    def row(record: dict[str, Any]) -> Row | None:
        text, own_id = record[text_field], record.get(id_field or "")
        if not isinstance(text, str):
            raise ValueError(f"the field {text_field!r} is {text!r}; accepted: text")
        if id_field is not None and (own_id == "" or not isinstance(own_id, str | int)):
            raise ValueError(f"the field {id_field!r} is {own_id!r}; accepted: text, whole numbers")
        if not is_visible(text):
            return None
        others = {name: value for name, value in record.items() if name not in columns}
        return Row(
            text.strip(), None if id_field is None else str(own_id), orjson.dumps(others).decode()
        )

    return filter(None, parse_rows(path, row, columns=columns))


def write_table(
    rows: Sequence[Any], path: Path, *, text_field: str | None, id_field: str | None
) -> dict[str, str | None]:
    """Writes texts, or dictionaries, as JSON lines; returns the names of text and id in them."""
    records = [{text_field or _TEXT: row} if isinstance(row, str) else row for row in rows]
    if any(isinstance(record, Mapping) and _ID in record for record in records):
        id_field = id_field or _ID
    with reading("rows"):
        path.write_bytes(b"\n".join(map(orjson.dumps, records)))
    return {"text_field": text_field or _TEXT, "id_field": id_field}

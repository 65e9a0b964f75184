"""JSON lines: one object a line; a field of an object inside it has a dotted name."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import orjson

from data_pipeline.sources.tables.rows import MISSING, ROWS_A_BATCH, Rows
from data_pipeline.storage.filesystem import Tap
from data_pipeline.storage.inputs import InputFile
from data_pipeline.storage.lines import MAX_LINE_BYTES, read_line_batches
from data_pipeline.storage.malformed_lines import KEPT_OF_TOO_LONG, NOT_JSON, MalformedLine

_NAMED_LEVELS = 100
"""Objects inside objects whose fields have names: Python calls no function 1,000 deep."""


def read_json_lines(file: InputFile, names: Sequence[str], tap: Tap) -> Iterator[Rows]:
    """Yields the fields of all lines; empty lines are no rows.

    Raises:
      UnreadableFileError: if the file cannot be opened or is truncated or corrupt.
    """
    getters = [getter(name) for name in names]
    rows = Rows([], [], [])
    for batch in read_line_batches(file, tap):
        for number, line in enumerate(batch.lines, start=batch.first_line):
            if not line or line.isspace():
                continue
            size = batch.too_long.get(number - batch.first_line, 0)
            try:
                record = _object(line, size)
            except ValueError as error:
                kept = line[:KEPT_OF_TOO_LONG] if size else line
                rows.malformed.append(MalformedLine(file.path, number, kept, str(error)))
            else:
                rows.numbers.append(number)
                rows.values.append(tuple([get(record) for get in getters]))
            if rows.total == ROWS_A_BATCH:
                yield rows
                rows = Rows([], [], [])
    yield rows


def _object(line: bytes, size: int) -> dict[str, Any]:
    if size:  # it was cut
        raise ValueError(f"a line of {size} bytes; at most {MAX_LINE_BYTES} are read")
    try:
        record = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise ValueError(f"{NOT_JSON}: {error}") from None
    if not isinstance(record, dict):
        raise ValueError(f"not a JSON object but {type(record).__name__}")
    return record


def getter(name: str) -> Callable[[dict[str, Any]], Any]:
    """A function of an object that returns its field of a plain or dotted name, or `MISSING`.

    A field whose own name has the dots comes before fields of inner objects.
    """
    if "." not in name:
        return lambda record: record.get(name, MISSING)
    path = name.split(".")

    def get(record: dict[str, Any]) -> Any:
        if name in record:
            return record[name]
        value: Any = record
        for part in path:
            if not isinstance(value, dict) or part not in value:
                return MISSING
            value = value[part]
        return value

    return get


def field_names(
    record: dict[str, Any], prefix: str = "", *, levels: int = _NAMED_LEVELS
) -> list[str]:
    """The names of an object's fields, dotted for those of inner objects, to so many levels."""
    names = []
    for name, value in record.items():
        if isinstance(value, dict) and value and levels > 1:
            names += field_names(value, f"{prefix}{name}.", levels=levels - 1)
        else:
            names.append(f"{prefix}{name}")
    return names

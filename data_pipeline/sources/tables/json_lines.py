"""JSON lines: one object a line; a field of an object inside it has a dotted name."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any

import orjson

from data_pipeline.sources.tables.rows import MISSING, ROWS_A_BATCH, Rows
from data_pipeline.storage.filesystem import Tap
from data_pipeline.storage.inputs import InputFile
from data_pipeline.storage.lines import read_line_batches

NAMED_ROWS = 10_000
"""Rows at the start of a file whose fields are looked at."""
_NAMED_LEVELS = 20


def read_json_lines(file: InputFile, names: Sequence[str], tap: Tap) -> Iterator[Rows]:
    """Yields the fields of all lines; empty lines are no rows.

    Raises:
      UnreadableFileError: if the file cannot be opened or is truncated or corrupt.
    """
    getters = [getter(name) for name in names]
    rows = Rows([], [], [])
    for batch in read_line_batches(file, tap):
        for index, line in enumerate(batch.lines):
            if not line or line.isspace():
                continue
            try:
                record = orjson.loads(line)
                if not isinstance(record, dict):
                    raise ValueError(f"not a JSON object but {type(record).__name__}")
            except ValueError as error:
                rows.malformed.append(batch.malformed(index, line, str(error)))
            else:
                rows.numbers.append(batch.first_line + index)
                rows.values.append(tuple([get(record) for get in getters]))
            if rows.total == ROWS_A_BATCH:
                yield rows
                rows = Rows([], [], [])
    yield rows


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


def read_names(file: InputFile) -> list[str]:
    """The names of the fields of the first records, dotted for those of inner objects.

    Raises:
      UnreadableFileError: if the file cannot be opened or is truncated or corrupt.
    """
    names: dict[str, None] = {}
    lines = (line for batch in read_line_batches(file) for line in batch.lines)
    for line in islice(lines, NAMED_ROWS):
        with suppress(orjson.JSONDecodeError):
            names |= dict.fromkeys(_names(orjson.loads(line), ""))
    return list(names)


def _names(value: Any, prefix: str) -> Iterator[str]:
    if not isinstance(value, dict) or prefix.count(".") == _NAMED_LEVELS:
        return
    for name, inner in value.items():
        yield f"{prefix}{name}"
        yield from _names(inner, f"{prefix}{name}.")

"""What the readers of all formats yield: rows with the wanted fields, and rows that failed."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec
import orjson

from common.tables.delimited import position_of
from data_pipeline.storage.inputs import UnreadableFileError
from data_pipeline.storage.lines import KEPT_OF_TOO_LONG, MalformedLine

ROWS_A_BATCH = 5_000
NOTE = "--input: "
SKIPPED = "skipped"
"""The role, and the field, of the rule by which a format drops a message because of its kind."""


MISSING = msgspec.UNSET
"""The value of a field that a row does not have."""


class Rows(NamedTuple):
    """Consecutive rows of one file."""

    path: str
    numbers: list[int]
    """Where each row is in the file, from 1: its first line, or its row of a Parquet file."""
    values: list[tuple[Any, ...]]
    """The wanted fields of each row, in the order asked for; `MISSING` where it has none."""
    malformed: list[MalformedLine]
    """Rows that could not be read; they are not in `values`."""
    notes: frozenset[str] = frozenset()
    """What to warn of in the file; each begins with `NOTE`."""

    @property
    def total(self) -> int:
        """How many rows were read, malformed ones included."""
        return len(self.values) + len(self.malformed)


def as_raw(value: Any) -> bytes:
    """A record that is none, as its dead letter shows it."""
    try:
        raw = orjson.dumps(value, default=str, option=orjson.OPT_NON_STR_KEYS)
    except orjson.JSONEncodeError:  # nested deeper than orjson writes
        raw = repr(value).encode(errors="backslashreplace")
    return raw[:KEPT_OF_TOO_LONG]


def positions_of(
    names: Sequence[str], header: Sequence[str], path: str
) -> tuple[list[int], frozenset[str]]:
    """The positions of fields among those of a file, and which have other names there.

    Raises:
      UnreadableFileError: if there is none, or more than one, of a name.
    """
    try:
        positions = [position_of(name, header) for name in names]
    except ValueError as error:
        raise UnreadableFileError(f"{path}: {error}") from error
    others = {
        f"{NOTE}the field {header[position]!r} is read as {name!r}"
        for name, position in zip(names, positions, strict=True)
        if header[position] != name
    }
    return positions, frozenset(others)

"""What the readers of all formats yield: rows with the wanted fields, and rows that failed."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from data_pipeline.storage.inputs import UnreadableFileError
from data_pipeline.storage.lines import MalformedLine

ROWS_A_BATCH = 5_000
_SHOWN_FIELDS = 20


class Missing:
    """The value of a field that a row does not have."""

    def __repr__(self) -> str:
        return "missing"


MISSING = Missing()


class Rows(NamedTuple):
    """Consecutive rows of one file."""

    numbers: list[int]
    """Where each row is in the file, from 1: its first line, or its row of a Parquet file."""
    values: list[tuple[Any, ...]]
    """The wanted fields of each row, in the order asked for; `MISSING` where it has none."""
    malformed: list[MalformedLine]
    """Rows that could not be read; they are not in `values`."""

    @property
    def total(self) -> int:
        """How many rows were read, malformed ones included."""
        return len(self.values) + len(self.malformed)


class TableFormat(NamedTuple):
    """How a file is read; the name of the file says the rest."""

    delimiter: str | None = None
    """Of CSV files; None for a tab in `.tsv`, else a comma."""
    quotes: bool = True
    """Whether `"` encloses fields, in which delimiters and line breaks are text."""


def position_of(name: str, names: Sequence[str], path: str) -> int:
    """The position of a field among those of a file.

    Raises:
      UnreadableFileError: if there is none, or more than one, of this name.
    """
    if names.count(name) != 1:
        shown = ", ".join(map(repr, names[:_SHOWN_FIELDS]))
        more = f", ... ({len(names):,} in all)" if len(names) > _SHOWN_FIELDS else ""
        count = names.count(name) or "no"
        raise UnreadableFileError(f"{path}: {count} field {name!r}; its fields are {shown}{more}")
    return names.index(name)

"""Whether the fields that a user names are there, by the first rows, before a job starts."""

from collections import Counter
from collections.abc import Sequence
from itertools import islice
from typing import Any

import orjson

from common.errors import InputError
from data_pipeline.sources.tables.delimited import listed, no_field, read_header, several
from data_pipeline.sources.tables.json_lines import field_names
from data_pipeline.sources.tables.parquet import read_schema
from data_pipeline.sources.tables.reader import DELIMITED, JSON_LINES, PARQUET, read_rows, suffix_of
from data_pipeline.sources.tables.rows import MISSING, TableFormat
from data_pipeline.storage.filesystem import Tap
from data_pipeline.storage.inputs import InputFile, UnreadableFileError
from data_pipeline.storage.lines import read_line_batches

CHECKED_FILES = 10
"""Files that are looked at; the job checks the fields of all."""
CHECKED_ROWS = 10_000
"""Rows at the start of a file that are looked at."""
_Counts = Counter[str | None]
_ROWS = None
"""The key of the number of rows among counts by field."""
_FORM = TableFormat()


def check_fields(
    files: Sequence[InputFile],
    *,
    required: dict[str, str],
    optional: dict[str, str],
    form: TableFormat = _FORM,
) -> None:
    """Checks the fields of the first files by their first rows.

    Args:
      files: all that the job reads.
      required: flag -> name of a field that most rows must fill.
      optional: flag -> name of a field that some row must have; missed only where all are read.
      form: how CSV is read.

    Raises:
      InputError: if a field is missing or empty; names the flag, and the fields that there are.
    """
    found: dict[str, None] = {}
    filled: _Counts = Counter()
    counted: list[tuple[InputFile, _Counts]] = []
    checked = files[:CHECKED_FILES]
    everything = len(checked) == len(files)
    for file in checked:
        try:
            there = _fields_of(file, form, [*required.values(), *optional.values()])
        except UnreadableFileError as error:
            raise InputError(str(error)) from error
        found |= dict.fromkeys(there)
        in_json = suffix_of(file.path, form) in JSON_LINES
        # In JSON an empty field may be left out: it need not be in every file.
        for flag, name in (required if in_json else required | optional).items():
            if there and name not in there:
                raise _missing(flag, file, name, there, form)
        for flag, name in (required | optional).items():
            if not in_json and there.count(name) > 1:
                raise InputError(f"--{flag}: {several(file.path, name, there)}")
        counts = _count_filled(file, [*required.values(), *optional.values()], form)
        filled.update(counts)
        counted.append((file, counts))
        everything = everything and counts[_ROWS] < CHECKED_ROWS
    for flag, name in required.items():
        if 2 * filled[name] < filled[_ROWS]:
            rows = _some_rows(filled, name, files=len(checked))
            raise _empty(flag, _emptiest(counted, name), name, rows, list(found))
    for flag, name in optional.items():
        if not everything or filled[name]:
            continue
        if found and name not in found:
            raise _missing(flag, files[0], name, list(found), form)
        if filled[_ROWS]:
            raise _empty(flag, files[0], name, f"all {filled[_ROWS]:,} rows", list(found))


def _missing(
    flag: str, file: InputFile, name: str, there: Sequence[str], form: TableFormat
) -> InputError:
    is_header = suffix_of(file.path, form) in DELIMITED
    return InputError(f"--{flag}: {no_field(file.path, name, there, is_header=is_header)}")


def _empty(flag: str, file: InputFile, name: str, rows: str, there: Sequence[str]) -> InputError:
    return InputError(
        f"--{flag}: {file.path}: the field {name!r} is empty in {rows}; its fields are "
        f"{listed(there)}"
    )


def _count_filled(file: InputFile, names: Sequence[str], form: TableFormat) -> _Counts:
    """In how many of the first rows each field is filled, and how many rows were looked at."""
    batches = read_rows(file, names, tap=Tap(), form=form)
    try:
        rows = list(islice((row for some in batches for row in some.values), CHECKED_ROWS))
    except UnreadableFileError as error:
        raise InputError(str(error)) from error
    counts: _Counts = Counter({_ROWS: len(rows)})
    for position, name in enumerate(names):
        counts[name] = sum(is_filled(row[position]) for row in rows)
    return counts


def _emptiest(counted: list[tuple[InputFile, _Counts]], name: str) -> InputFile:
    """The file of which the smallest share of the rows fills the field."""
    with_rows = [(file, counts) for file, counts in counted if counts[_ROWS]]
    return min(with_rows, key=lambda one: one[1][name] / one[1][_ROWS])[0]


def _some_rows(filled: _Counts, name: str, *, files: int) -> str:
    rows = filled[_ROWS]
    of_files = f" of {files:,} files" if files > 1 else ""
    return f"{rows - filled[name]:,} of the first {rows:,} rows{of_files}"


def is_filled(value: Any) -> bool:
    """Whether a field has a value other than null and white space."""
    if value is None or value is MISSING:
        return False
    return bool(value.strip()) if isinstance(value, str) else True


def _fields_of(file: InputFile, form: TableFormat, names: Sequence[str]) -> list[str]:
    """The names of all fields; of JSON lines, of those in the first rows."""
    suffix = suffix_of(file.path, form)
    if suffix in PARQUET:
        return read_schema(file)
    if suffix not in JSON_LINES:
        return read_header(file, form, names)
    found: dict[str, None] = {}
    lines = (line for batch in read_line_batches(file) for line in batch.lines)
    for line in islice(lines, CHECKED_ROWS):
        try:
            record = orjson.loads(line)
        except orjson.JSONDecodeError:
            continue
        if isinstance(record, dict):
            found |= dict.fromkeys([*record, *field_names(record)])
    return list(found)

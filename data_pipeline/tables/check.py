"""Whether the fields that a user names are there, by the first rows, before a job starts."""

from collections import Counter
from collections.abc import Sequence
from itertools import islice
from typing import Any

import orjson

from data_pipeline.errors import InputError
from data_pipeline.files.filesystem import Tap
from data_pipeline.files.inputs import InputFile, UnreadableFileError
from data_pipeline.files.lines import read_line_batches
from data_pipeline.tables.delimited import no_field, read_header, several
from data_pipeline.tables.json_lines import field_names
from data_pipeline.tables.parquet import read_schema
from data_pipeline.tables.reader import DELIMITED, JSON_LINES, PARQUET, read_rows, suffix_of
from data_pipeline.tables.rows import MISSING, TableFormat

CHECKED_ROWS = 10_000
"""Rows at the start of a file that are looked at."""
_SHOWN_FIELDS = 20
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
    """Checks the fields of some files by their first rows.

    Args:
      files: to check.
      required: flag -> name of a field that most rows must fill.
      optional: flag -> name of a field that some row must have.
      form: how CSV is read.

    Raises:
      InputError: if a field is missing or empty; names the flag, and the fields that there are.
    """
    found: dict[str, None] = {}
    filled: _Counts = Counter()
    everything = True
    for file in files:
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
        _require_filled(file, required, counts, there)
        filled += counts
        everything = everything and counts[_ROWS] < CHECKED_ROWS
    for flag, name in optional.items():
        if found and name not in found:
            raise _missing(flag, files[0], name, list(found), form)
        if everything and filled[_ROWS] and not filled[name]:
            raise _empty(flag, files[0], name, f"all {filled[_ROWS]:,} rows", list(found))


def _missing(
    flag: str, file: InputFile, name: str, there: Sequence[str], form: TableFormat
) -> InputError:
    is_header = suffix_of(file.path, form) in DELIMITED
    return InputError(
        f"--{flag}: {no_field(file.path, name, there[:_SHOWN_FIELDS], is_header=is_header)}"
    )


def _empty(flag: str, file: InputFile, name: str, rows: str, there: Sequence[str]) -> InputError:
    names = ", ".join(map(repr, there[:_SHOWN_FIELDS]))
    return InputError(
        f"--{flag}: {file.path}: the field {name!r} is empty in {rows}; its fields are {names}"
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


def _require_filled(
    file: InputFile, required: dict[str, str], counts: _Counts, there: Sequence[str]
) -> None:
    rows = counts[_ROWS]
    for flag, name in required.items():
        if 2 * counts[name] < rows:
            raise _empty(
                flag, file, name, f"{rows - counts[name]:,} of the first {rows:,} rows", there
            )


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

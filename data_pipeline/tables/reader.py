"""A file of any accepted format -> rows with the wanted fields; its name says the format."""

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import PurePath

import orjson

from data_pipeline.errors import InputError
from data_pipeline.files.filesystem import Tap, file_crc32c
from data_pipeline.files.inputs import InputFile, UnreadableFileError
from data_pipeline.files.lines import COMPRESSIONS, read_line_batches
from data_pipeline.tables.delimited import no_field, read_delimited, read_header
from data_pipeline.tables.json_lines import field_names, read_json_lines
from data_pipeline.tables.parquet import read_parquet, read_schema
from data_pipeline.tables.rows import MISSING, Rows, TableFormat

JSON_LINES = (".jsonl", ".ndjson", ".json")
DELIMITED = (".csv", ".tsv")
PARQUET = (".parquet",)
CHECKED_ROWS = 10_000
"""Rows at the start of a file whose fields are checked before the job starts."""
_SHOWN_FIELDS = 20
_FORM = TableFormat()


def suffix_of(path: str, form: TableFormat = _FORM) -> str:
    """The suffix that says a file's format, in lower case.

    Raises:
      InputError: if it says no accepted format.
    """
    suffixes = [suffix.lower() for suffix in PurePath(path).suffixes]
    compressed = bool(suffixes) and suffixes[-1] in COMPRESSIONS
    suffix = (suffixes[:-1] if compressed else suffixes)[-1:]
    if suffix and suffix[0] in JSON_LINES + DELIMITED:
        return suffix[0]
    if suffix and suffix[0] in PARQUET and not compressed:
        return suffix[0]
    if form.delimiter is not None and suffix != [*PARQUET]:
        return ".csv"
    raise InputError(
        f"--input: {path!r} does not say by its name how to read it; accepted are names that end "
        f"in {', '.join(JSON_LINES + DELIMITED)}, and then in {', '.join(COMPRESSIONS)} or "
        "nothing, and in .parquet"
    )


def read_rows(
    file: InputFile, names: Sequence[str], *, tap: Tap, form: TableFormat = _FORM
) -> Iterator[Rows]:
    """Yields the wanted fields of all rows of a file, in its order, in bounded memory.

    Args:
      file: JSON lines, CSV or TSV, plain or compressed, or Parquet.
      names: of the fields; a dotted name is a field of an inner object.
      tap: counts the bytes read; not those of Parquet, which is not read from start to end.
      form: how CSV is read.

    Raises:
      InputError: if the file's name says no accepted format.
      UnreadableFileError: if the file cannot be opened, is truncated or corrupt, or, as CSV or
        Parquet, lacks a field.
    """
    suffix = suffix_of(file.path, form)
    if suffix in JSON_LINES:
        yield from read_json_lines(file, names, tap)
    elif suffix in PARQUET:
        yield from read_parquet(file, names)
    else:
        yield from read_delimited(file, names, tap, form)


def checksum_of(file: InputFile, tap: Tap) -> str:
    """The CRC-32C of a file that was read to its end through `tap`, or of Parquet."""
    return file_crc32c(file.path) if suffix_of(file.path) in PARQUET else tap.crc32c


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
    flags = required | optional
    names = list(flags.values())
    found: set[str] = set()
    for file in files:
        suffix = suffix_of(file.path, form)
        in_json = suffix in JSON_LINES
        try:
            there = _fields_of(file, form, names)
        except UnreadableFileError as error:
            raise InputError(str(error)) from error
        found |= set(there)
        try:
            rows = _first_rows(file, names, form)
        except UnreadableFileError:
            rows = []
        for position, (flag, name) in enumerate(flags.items()):
            if there and name not in there and (flag in required or not in_json):
                missing = no_field(
                    file.path, name, there[:_SHOWN_FIELDS], is_header=suffix in DELIMITED
                )
                raise InputError(f"--{flag}: {missing}")
            filled = sum(is_filled(row[position]) for row in rows)
            if rows and flag in required and 2 * filled < len(rows):
                raise InputError(
                    f"--{flag}: {file.path}: the field {name!r} is empty in "
                    f"{len(rows) - filled:,} of the first {len(rows):,} rows; its fields are "
                    + ", ".join(map(repr, there[:_SHOWN_FIELDS]))
                )
    # In JSON an empty field may be left out: it need not be in every file.
    for flag, name in optional.items():
        if found and name not in found:
            shown = sorted(found)[:_SHOWN_FIELDS]
            raise InputError(f"--{flag}: {no_field(files[0].path, name, shown)}")


def is_filled(value: object) -> bool:
    """Whether a field has a value other than null and white space."""
    if value is None or value is MISSING:
        return False
    return bool(value.strip()) if isinstance(value, str) else True


def _first_rows(file: InputFile, names: list[str], form: TableFormat) -> list[tuple]:
    batches = read_rows(file, names, tap=Tap(), form=form)
    return list(islice((row for rows in batches for row in rows.values), CHECKED_ROWS))


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

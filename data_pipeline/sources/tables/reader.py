"""A file of any accepted format -> rows with the wanted fields; its name says the format."""

from collections.abc import Iterator, Sequence
from pathlib import PurePath

from common.errors import InputError
from data_pipeline.sources.tables.delimited import read_delimited
from data_pipeline.sources.tables.json_lines import read_json_lines
from data_pipeline.sources.tables.parquet import read_parquet
from data_pipeline.sources.tables.rows import Rows, TableFormat
from data_pipeline.storage.filesystem import Tap
from data_pipeline.storage.inputs import InputFile
from data_pipeline.storage.lines import COMPRESSIONS

JSON_LINES = (".jsonl", ".ndjson", ".json")
DELIMITED = (".csv", ".tsv")
PARQUET = (".parquet",)
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
        f"--input: {path!r}; accepted: names that end in {', '.join(JSON_LINES + DELIMITED)}, "
        f"plain or with {', '.join(COMPRESSIONS)} behind it, or in .parquet"
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

"""Whether the fields that a user names are there, by the first rows, before a job starts."""

from collections.abc import Mapping, Sequence
from itertools import islice

from common.errors import InputError
from data_pipeline.sources.tables.delimited import read_header
from data_pipeline.sources.tables.json_lines import read_names
from data_pipeline.sources.tables.parquet import read_schema
from data_pipeline.sources.tables.reader import JSON_LINES, PARQUET, suffix_of
from data_pipeline.sources.tables.rows import TableFormat, position_of
from data_pipeline.storage.inputs import InputFile, UnreadableFileError

CHECKED_FILES = 10
"""Files that are looked at; the job checks all."""


def check_fields(
    files: Sequence[InputFile],
    *,
    required: Mapping[str, str],
    optional: Mapping[str, str],
    form: TableFormat,
) -> None:
    """Checks that the first files have the fields.

    Args:
      files: all that the job reads.
      required: flag -> name of a field.
      optional: the same for fields that JSON may leave out where they are empty.
      form: how CSV is read.

    Raises:
      InputError: if a field is missing; names the flag, and the fields that there are.
    """
    for file in islice(files, CHECKED_FILES):
        suffix = suffix_of(file.path, form)
        wanted = {**required, **({} if suffix in JSON_LINES else optional)}
        try:
            if suffix in JSON_LINES:
                names = read_names(file)
            elif suffix in PARQUET:
                names = read_schema(file)
            else:
                names = read_header(file, list(wanted.values()), form)
        except UnreadableFileError as error:
            raise InputError(str(error)) from error
        if suffix in JSON_LINES and not names:
            continue  # no lines, or none that is an object: the job counts them
        for flag, name in wanted.items():
            try:
                position_of(name, names, file.path)
            except UnreadableFileError as error:
                raise InputError(f"--{flag}: {error}") from error

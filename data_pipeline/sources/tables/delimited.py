"""CSV and TSV files -> rows with the wanted fields, found by the header."""

from collections.abc import Iterator, Sequence

from common.tables.delimited import MAX_FIELD_CHARACTERS, Dialect, Line, UnclosedQuoteError, rows
from data_pipeline.sources.tables.rows import ROWS_A_BATCH, Rows, positions_of
from data_pipeline.storage.filesystem import Tap
from data_pipeline.storage.inputs import InputFile, UnreadableFileError
from data_pipeline.storage.lines import (
    KEPT_OF_TOO_LONG,
    MAX_LINE_BYTES,
    MalformedLine,
    read_line_batches,
)


def read_delimited(
    file: InputFile, names: Sequence[str], tap: Tap, *, dialect: Dialect
) -> Iterator[Rows]:
    """Yields the fields of all rows; empty lines are no rows.

    Raises:
      UnreadableFileError: if the file cannot be opened, is truncated or corrupt, its header lacks
        a field, or a quote takes in too many lines.
    """
    try:
        table = rows(_lines(file, tap), dialect)
        header = next(table, None)
        if header is not None and header.fault:
            raise UnreadableFileError(f"{file.path}: its header cannot be read: {header.fault}")
        positions, notes = positions_of(names, header.fields if header else [], file.path)
        batch = Rows([], [], [], notes)
        for row in table:
            if row.fault:
                kept = (
                    row.raw if len(row.raw) <= MAX_FIELD_CHARACTERS else row.raw[:KEPT_OF_TOO_LONG]
                )
                batch.malformed.append(MalformedLine(file.path, row.number, kept, row.fault))
            else:
                batch.numbers.append(row.number)
                batch.values.append(tuple([row.fields[position] for position in positions]))
            if batch.total >= ROWS_A_BATCH:
                yield batch
                batch = Rows([], [], [])
        yield batch
    except UnclosedQuoteError as error:
        raise UnreadableFileError(f"{file.path}: line {error.line}: {error}") from error


def _lines(file: InputFile, tap: Tap) -> Iterator[Line]:
    for batch in read_line_batches(file, tap):
        for index, line in enumerate(batch.lines):
            fault = ""
            if batch.first_bytes and not index:
                fault = f"a line of {batch.first_bytes} bytes; at most {MAX_LINE_BYTES} are read"
            yield Line(batch.first_line + index, line, fault)

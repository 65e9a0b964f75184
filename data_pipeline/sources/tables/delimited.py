"""CSV and TSV files -> rows with the wanted fields, found by the header."""

import re
from collections.abc import Generator, Iterator, Sequence
from itertools import count, repeat

from common.tables.delimited import MAX_FIELD_CHARACTERS, Dialect, Line, UnclosedQuoteError, rows
from data_pipeline.sources.tables.rows import NOTE, ROWS_A_BATCH, Rows, positions_of
from data_pipeline.storage.filesystem import Tap
from data_pipeline.storage.inputs import InputFile, UnreadableFileError
from data_pipeline.storage.lines import (
    KEPT_OF_TOO_LONG,
    MAX_LINE_BYTES,
    MalformedLine,
    read_line_batches,
)

_ENCLOSED = re.compile(r'"(?:[^"]|"")*""(?:[^"]|"")*"')
_QUOTES = f"{NOTE}some fields are in quotes and have doubled quotes: --quotes rfc4180 reads them"


def read_delimited(
    file: InputFile, names: Sequence[str], tap: Tap, *, dialect: Dialect
) -> Iterator[Rows]:
    """Yields the fields of all rows; empty lines are no rows.

    Raises:
      UnreadableFileError: if the file cannot be opened, is truncated or corrupt, its header lacks
        a field, or a quote takes in too many lines.
    """
    lines = _lines(file, tap, dialect.encoding)
    try:
        table = rows(lines, dialect)
        header = next(table, None)
        if header is not None and header.fault:
            hint = "; --encoding names another" if "UTF-8" in header.fault else ""
            raise UnreadableFileError(
                f"{file.path}: its header cannot be read: {header.fault}{hint}"
            )
        positions, notes = positions_of(names, header.fields if header else [], file.path)
        batch = Rows(file.path, [], [], [], notes)
        by_default = dialect.quotes is None and not dialect.encloses
        for row in table:
            if row.fault:
                kept = (
                    row.raw if len(row.raw) <= MAX_FIELD_CHARACTERS else row.raw[:KEPT_OF_TOO_LONG]
                )
                batch.malformed.append(MalformedLine(file.path, row.number, kept, row.fault))
            else:
                values = tuple([row.fields[position] for position in positions])
                batch.numbers.append(row.number)
                batch.values.append(values)
                if by_default and any(map(_ENCLOSED.fullmatch, values)):
                    batch = batch._replace(notes=batch.notes | {_QUOTES})
            if batch.total >= ROWS_A_BATCH:
                yield batch
                batch = Rows(file.path, [], [], [])
        yield batch
    except UnclosedQuoteError as error:
        raise UnreadableFileError(f"{file.path}: line {error.line}: {error}") from error
    finally:
        lines.close()  # an error holds it


def _lines(file: InputFile, tap: Tap, encoding: str | None) -> Generator[Line]:
    for batch in read_line_batches(file, tap, encoding=encoding):
        lines = zip(count(batch.first_line), batch.lines, repeat(""))
        if size := batch.first_bytes:
            number, content, _ = next(lines)
            yield number, content, f"a line of {size} bytes; at most {MAX_LINE_BYTES} are read"
        yield from lines

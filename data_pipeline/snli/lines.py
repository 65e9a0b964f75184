"""The lines of SNLI's files: JSON, or columns under a header.

The files come in two forms with the same fields: JSON lines (`.jsonl`) and tab-separated columns
(`.txt`), each plain or compressed. MultiNLI has the same forms.
"""

from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from operator import itemgetter
from pathlib import PurePath

import orjson

from common.errors import InputError
from data_pipeline.storage.filesystem import Tap
from data_pipeline.storage.inputs import InputFile
from data_pipeline.storage.lines import COMPRESSIONS, read_line_batches
from data_pipeline.storage.malformed_lines import NOT_JSON, MalformedLineError

FIELDS = ("gold_label", "sentence1", "sentence2", "pairID")
SHOWN = 100
"""Characters of a wrong value that an error shows."""
_JSON_LINES = ".jsonl"
_SUFFIXES = (_JSON_LINES, ".txt")

Fields = tuple[str, str, str, str]
"""The values of `FIELDS`."""
_get_fields = itemgetter(*FIELDS)

Line = tuple[int, bytes, int]
"""Its number from 1, its (start of) contents, and how many bytes it has."""


@contextmanager
def open_file(
    file: InputFile, tap: Tap
) -> Iterator[tuple[Callable[[bytes], Fields], Iterator[Line]]]:
    """Yields the parser for a file's lines, and the lines without the header.

    Raises:
      InputError: if the file's name or its header is of another kind.
    """
    suffix = _without_compression(file.path).suffix
    if suffix.lower() not in _SUFFIXES:
        raise InputError(
            f"--input: {file.path!r} does not say by its name how to read it; accepted: names "
            f"that end in {' or '.join(_SUFFIXES)}, and then in {', '.join(COMPRESSIONS)} or "
            "nothing"
        )
    with closing(_lines(file, tap)) as lines:
        if suffix.lower() == _JSON_LINES:
            yield parse_json, lines
        else:
            _, header, _ = next(lines, (1, b"", 0))
            yield Columns(file.path, header), lines


def corpus_of(path: str) -> str:
    """A file's name without what says its format."""
    return str(_without_compression(path).with_suffix(""))


def _without_compression(path: str) -> PurePath:
    found = PurePath(path)
    return found.with_suffix("") if found.suffix.lower() in COMPRESSIONS else found


def _lines(file: InputFile, tap: Tap) -> Generator[Line, None, None]:
    for batch in read_line_batches(file, tap):
        for index, line in enumerate(batch.lines):
            size = batch.too_long.get(index, len(line))
            yield batch.first_line + index, line, size


def parse_json(line: bytes) -> Fields:
    """Parses a line of JSON.

    Raises:
      MalformedLineError: if it is not an object with all of `FIELDS` as strings.
    """
    try:
        values = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise MalformedLineError(f"{NOT_JSON}: {error}") from None
    if not isinstance(values, dict):
        raise MalformedLineError(f"not a JSON object but {type(values).__name__}")
    for name in FIELDS:
        if not isinstance(values.get(name), str):
            raise MalformedLineError(f"{name} is missing or no string")
    return _get_fields(values)


class Columns:
    """Parses lines of tab-separated columns, found by the names in the header."""

    def __init__(self, path: str, header: bytes):
        names = header.decode(errors="replace").rstrip("\r").split("\t")
        missing = [name for name in FIELDS if name not in names]
        if missing:
            shown = header.decode(errors="replace")[:SHOWN]
            raise InputError(
                f"--input: {path!r}, line 1: {shown!r} is not a header, without "
                f"{', '.join(missing)}; accepted: the names of tab-separated columns, among "
                f"them {', '.join(FIELDS)}"
            )
        twice = [name for name in FIELDS if names.count(name) > 1]
        if twice:
            raise InputError(
                f"--input: {path!r}, line 1: several columns are named {', '.join(twice)}; "
                "accepted: one of each name"
            )
        self._columns = len(names)
        self._get_fields = itemgetter(*map(names.index, FIELDS))

    def __call__(self, line: bytes) -> Fields:
        """Parses a line.

        Raises:
          MalformedLineError: if it has another number of columns, or is not UTF-8.
        """
        try:
            values = line.decode().rstrip("\r").split("\t")
        except UnicodeDecodeError as error:
            raise MalformedLineError(f"not UTF-8: {error}") from None
        if len(values) != self._columns:
            raise MalformedLineError(f"{len(values)} columns; the header has {self._columns}")
        return self._get_fields(values)

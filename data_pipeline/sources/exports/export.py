"""What a format of exported conversations declares, and how its files become rows of messages.

    EXPORT = Export(
        files=("*.json",),
        records=partial(json_items, path="messages"),
        fields={"id": "id", "parent": "reply_to", "text": "text"},
        skips={"service": lambda message: message["type"] == "service"},
    )

A module of this name in this folder is a format; `FORMATS` in `options` lists it.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from importlib import import_module
from typing import Any, NamedTuple

import orjson

from data_pipeline.pairs.options import ALL
from data_pipeline.sources.exports.files import Found, inner_files
from data_pipeline.sources.source import Layout
from data_pipeline.sources.tables.reader import getter
from data_pipeline.sources.tables.rows import ROWS_A_BATCH, SKIPPED, Rows
from data_pipeline.storage.filesystem import Tap
from data_pipeline.storage.inputs import InputFile, UnreadableFileError, is_one_of, no_such_file
from data_pipeline.storage.lines import KEPT_OF_TOO_LONG, MalformedLine

Record = dict[str, Any]
People = Mapping[str, str]
"""Id of a person -> the name."""
_READ_BYTES = 1 << 20
_NOT_OF_THE_FORM = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


def _itself(record: Record, people: People) -> Iterable[Record]:
    return (record,)


class Export(NamedTuple):
    """A format of exported conversations."""

    files: tuple[str, ...]
    """Patterns of the names of its files in a folder or a zip, such as `*/result.json`."""
    records: Callable[[InputFile, Tap], Iterator[Found]]
    """A file -> its records with their number in it; the file is read through the tap."""
    fields: Mapping[str, str]
    """Role, as in `tables.source`, -> the name of its field, which may be dotted."""
    skips: Mapping[str, Callable[[Record], Any]] = {}
    """Rule -> whether it drops a message because of its kind. A record with another form than
    documented may raise what dictionaries raise; it is malformed."""
    messages: Callable[[Record, People], Iterable[Record]] = _itself
    """A record -> its messages, each with the fields above."""
    layout: Layout = Layout.LINKED_THREADS
    ids_within: str = ALL
    markup: str = "none"
    """That of the texts, one of `MARKUPS`."""
    people_files: tuple[str, ...] = ()
    """Patterns of the names of files with the names of people; `people` reads one."""
    people: Callable[[InputFile], People] = lambda _: {}


def export_of(name: str) -> Export:
    """The format of a name."""
    return import_module(f"data_pipeline.sources.exports.{name}").EXPORT


class ExportReader(NamedTuple):
    """Reads the files of a format as rows, for `TableSource`; it is sent to workers by name."""

    name: str
    people: People

    @classmethod
    def of(cls, name: str, files: Iterable[InputFile]) -> "ExportReader":
        """A reader that knows the people that the files name.

        Raises:
          UnreadableFileError: if such a file is not of the format.
        """
        export = export_of(name)
        people: dict[str, str] = {}
        for file in files if export.people_files else ():
            for inner in inner_files(file, export.people_files):
                if is_one_of(inner.path, export.people_files):
                    people |= export.people(inner)
        return cls(name, people)

    @property
    def skips(self) -> Sequence[str]:
        """The names of the rules of the format."""
        return list(export_of(self.name).skips)

    def read(
        self, file: InputFile, names: Sequence[str], tap: Tap
    ) -> Iterator[tuple[InputFile, Rows]]:
        """Yields the wanted fields of all messages of a file, or of the files in a zip.

        Raises:
          UnreadableFileError: if it is not of the format, or truncated or corrupt.
        """
        export = export_of(self.name)
        found = False
        for inner in inner_files(file, export.files):
            found = True
            if not is_one_of(inner.path, export.people_files):
                for rows in self._rows(export, inner, names, tap if inner is file else Tap()):
                    yield inner, rows
        if not found:
            raise UnreadableFileError(f"{file.path}: {no_such_file(export.files)}")
        if not tap.size:
            # A zip, or a file of people, is read again for its checksum.
            with closing(file.open()) as stream:
                tap.on(stream)
                while tap.read(_READ_BYTES):
                    pass

    def _rows(
        self, export: Export, file: InputFile, names: Sequence[str], tap: Tap
    ) -> Iterator[Rows]:
        getters = [getter(name) for name in names]
        rows = Rows([], [], [])
        for found in export.records(file, tap):
            if isinstance(found, MalformedLine):
                rows.malformed.append(found)
                continue
            number, record = found
            try:
                if not isinstance(record, dict):
                    raise TypeError(f"not a JSON object but {type(record).__name__}")
                messages = [
                    _judged(export, message) for message in export.messages(record, self.people)
                ]
            except _NOT_OF_THE_FORM as error:
                is_missing = isinstance(error, KeyError)
                reason = f"field {error} is missing" if is_missing else f"another form: {error}"
                raw = orjson.dumps(record, default=str)[:KEPT_OF_TOO_LONG]
                rows.malformed.append(MalformedLine(file.path, number, raw, reason))
                continue
            rows.numbers.extend([number] * len(messages))
            rows.values.extend(tuple([get(each) for get in getters]) for each in messages)
            if rows.total >= ROWS_A_BATCH:
                yield rows
                rows = Rows([], [], [])
        yield rows


def _judged(export: Export, message: Record) -> Record:
    """A message with the first rule of the format that drops it; such a one needs no text."""
    for rule, holds in export.skips.items():
        if holds(message):
            return {export.fields["text"]: ""} | message | {SKIPPED: rule}
    return message

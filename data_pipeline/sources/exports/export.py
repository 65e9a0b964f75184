"""What a format of exported conversations declares, and how its files become rows of messages.

A module in this folder with an `EXPORT`, such as `discord`, is a format; `FORMATS` in `options`
lists it.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import PurePath
from typing import Any, NamedTuple

from data_pipeline.pairs.options import ALL
from data_pipeline.sources.exports.files import Found, inner_files, is_one_of
from data_pipeline.sources.source import Layout
from data_pipeline.sources.tables.reader import ROWS_A_BATCH, SKIPPED, Rows, as_raw, getter
from data_pipeline.storage.filesystem import Tap
from data_pipeline.storage.inputs import InputFile, UnreadableFileError
from data_pipeline.storage.lines import MalformedLine

Record = dict[str, Any]
People = Mapping[str, str]
"""Id of a person -> the name."""
PATH, FOLDER, NUMBER = "(path)", "(folder)", "(number)"
"""Fields that each record gets: its file, the name of the folder of that, and its place in it."""
_OF_ANOTHER_FORM = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


class Export(NamedTuple):
    """A format of exported conversations."""

    files: tuple[str, ...]
    """Patterns of the names of its files in a folder or a zip, such as `*/result.json`."""
    records: Callable[[InputFile, Tap], Iterator[Found]]
    """A file -> its records; the file is read through the tap."""
    fields: Mapping[str, str]
    """Role, as in `tables.source`, -> the name of its field, which may be dotted."""
    skips: Mapping[str, Callable[[Record], Any]] = {}
    """Rule -> whether it drops a message because of its kind."""
    filters: Mapping[str, Callable[[Any, Record], Any]] = {}
    """Option, and rule if it is given -> whether it drops a message, with what is given."""
    messages: Callable[[Record, People], Iterable[Record]] = lambda record, _: (record,)
    """A record -> its messages. If it raises what lookups raise, the record is malformed."""
    layout: Layout = Layout.LINKED_THREADS
    ids_within: str = ALL
    channel: str = ""
    """The field of the channel in which messages follow each other by their `time`, for `--gap` and
    `--merge_author_runs`; without it these are refused. Ids are unique in a channel."""
    replies_are_apart: bool = False
    """See `Flow.is_apart`."""
    markup: str = "none"
    """That of the texts, one of `MARKUPS`."""
    people_files: tuple[str, ...] = ()
    """Patterns of the names of files with the names of people; `people` reads one."""
    people: Callable[[InputFile], People] = lambda _: {}


def export_of(name: str) -> Export:
    """The format of a name."""
    return import_module(f"data_pipeline.sources.exports.{name}").EXPORT


def people_of(name: str, files: Iterable[InputFile]) -> People:
    """The people whom the files of a format name.

    Raises:
      UnreadableFileError: if such a file cannot be read.
    """
    export, people = export_of(name), dict[str, str]()
    for file in files if export.people_files else ():
        for inner in inner_files(file, export.people_files):
            if is_one_of(inner.path, export.people_files):
                try:
                    people |= export.people(inner)
                except _OF_ANOTHER_FORM as error:
                    raise UnreadableFileError(
                        f"{inner.path}: of another form: {error!r}"
                    ) from error
    return people


@dataclass(frozen=True)
class ExportReader:
    """Reads the files of a format as rows; it is sent to workers by name."""

    name: str
    people: People
    filters: Mapping[str, Any]
    """Options that are given, of those of the format -> what is given."""

    def __call__(self, file: InputFile, names: Sequence[str], *, tap: Tap) -> Iterator[Rows]:
        """Yields the wanted fields of all messages of a file, or of the files in a zip.

        Raises:
          UnreadableFileError: if it is not of the format, or truncated or corrupt.
        """
        export = export_of(self.name)
        for inner in inner_files(file, export.files, is_needed=True):
            if not is_one_of(inner.path, export.people_files):
                yield from self._rows(export, inner, names, tap if inner is file else Tap())

    def _rows(
        self, export: Export, file: InputFile, names: Sequence[str], tap: Tap
    ) -> Iterator[Rows]:
        getters, folder = list(map(getter, names)), PurePath(file.path).parent.name
        rules: dict[str, Callable[[Record], Any]] = dict(export.skips)
        for name, given in self.filters.items():
            rules[name] = partial(export.filters[name], given)
        rows = Rows(file.path)
        for found in export.records(file, tap):
            if isinstance(found, MalformedLine):
                rows.malformed.append(found)
                continue
            number, record = found
            try:
                if not isinstance(record, dict):
                    raise TypeError(f"not a JSON object but {type(record).__name__}")
                placed = record | {PATH: file.path, FOLDER: folder, NUMBER: number}
                messages = list(export.messages(placed, self.people))
                for each in messages:
                    rule = next((rule for rule, holds in rules.items() if holds(each)), None)
                    if rule is not None:
                        each[SKIPPED] = rule
                        each.setdefault(export.fields["text"], "")  # such a one needs none
            except _OF_ANOTHER_FORM as error:
                is_missing = isinstance(error, KeyError)
                reason = f"field {error} is missing" if is_missing else f"another form: {error}"
                rows.malformed.append(MalformedLine(file.path, number, as_raw(record), reason))
            else:
                rows.numbers.extend([number] * len(messages))
                rows.values.extend(tuple([get(each) for get in getters]) for each in messages)
            if rows.total >= ROWS_A_BATCH:
                yield rows
                rows = Rows(file.path)
        yield rows

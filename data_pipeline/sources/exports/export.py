"""What a format of exported conversations declares, and how its files become rows of messages."""

import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import PurePath
from typing import Any, BinaryIO, NamedTuple, cast

import ijson

from common.errors import reading
from common.tables import PARQUET, Row
from data_pipeline.pairs.options import ALL
from data_pipeline.sources.exports import export_of
from data_pipeline.sources.source import Layout
from data_pipeline.sources.tables.reader import (
    SKIPPED,
    Rows,
    as_raw,
    in_batches,
    rows_of,
    suffix_of,
)
from data_pipeline.storage.filesystem import Tap
from data_pipeline.storage.inputs import InputFile, UnreadableFileError
from data_pipeline.storage.lines import read_chunks

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
Record = dict[str, Any]
People = Mapping[str, str]  # id of a person -> the name
PATH, FOLDER, NUMBER = "(path)", "(folder)", "(number)"
"""Fields that each record gets: its file, the name of the folder of that, and its place in it."""
_OF_ANOTHER_FORM = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


class Export(NamedTuple):
    """A format of exported conversations."""

    files: tuple[str, ...]
    """Patterns of the names of its files in a folder or a zip, such as `*/result.json`."""
    records: Callable[[InputFile, Tap], Iterator[Row]]
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
    """The field of the channel in which messages follow each other by their `time` and have ids of
    their own; without it `--gap` and `--merge_author_runs` are refused."""
    replies_are_apart: bool = False  # see `Flow.is_apart`
    markup: str = "none"  # that of the texts, one of `MARKUPS`
    people_files: tuple[str, ...] = ()  # patterns of their names
    people: Callable[[InputFile], People] = lambda _: {}  # those in one of these files


def people_of(name: str, files: Iterable[InputFile]) -> People:
    """The people whom the files of a format name."""
    export, people = export_of(name), dict[str, str]()
    for file in files if export.people_files else ():
        for inner in inner_files(file, export.people_files):
            if is_one_of(inner.path, export.people_files):
                with reading(f"--input: {inner.path}: of another form"):
                    people |= export.people(inner)
    return people


@dataclass(frozen=True)
class ExportReader:
    """Reads the files of a format as rows; it is sent to workers by name."""

    name: str
    people: People
    filters: Mapping[str, Any]  # options that are given, of those of the format -> what is given

    def __call__(self, file: InputFile, names: Mapping[str, str], *, tap: Tap) -> Iterator[Rows]:
        """Yields the wanted fields of all messages of a file, or of the files in a zip.

        An UnreadableFileError if it is not of the format, or truncated or corrupt.
        """
        export = export_of(self.name)
        for inner in inner_files(file, export.files, is_needed=True):
            if not is_one_of(inner.path, export.people_files):
                found = self._messages(export, inner, tap if inner is file else Tap())
                yield from in_batches(inner.path, found, names)

    def _messages(self, export: Export, file: InputFile, tap: Tap) -> Iterator[Row]:
        folder = PurePath(file.path).parent.name
        rules: dict[str, Callable[[Record], Any]] = dict(export.skips)
        for name, given in self.filters.items():
            rules[name] = partial(export.filters[name], given)
        for number, record, fault, raw in export.records(file, tap):
            if fault:
                yield Row(number, {}, fault, raw)
                continue
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
                yield Row(number, {}, reason, as_raw(record))
            else:
                yield from (Row(number, each) for each in messages)


class InnerFile(InputFile):
    """A file inside a zip; its path is that of the zip, with the name behind it."""

    archive: zipfile.ZipFile

    def open(self) -> BinaryIO:
        """Opens it to read its bytes, as they were before they were put into the zip."""
        try:
            return cast(BinaryIO, self.archive.open(self.location))
        except (RuntimeError, NotImplementedError) as error:  # encrypted
            raise UnreadableFileError(f"{self.path}: cannot be read: {error}") from error


def is_one_of(path: str, names: Sequence[str]) -> bool:
    """Whether the end of a path matches one of some patterns, such as `*.json`."""
    return any(map(PurePath(path).match, names))


def inner_files(
    file: InputFile, names: Sequence[str], *, is_needed: bool = False
) -> Iterator[InputFile]:
    """Yields the files in a zip whose names match one of the patterns; any other file itself."""
    if PurePath(file.path).suffix.lower() != ".zip":
        yield file
        return
    with closing(file.open()) as stream:
        try:
            archive = zipfile.ZipFile(stream)
        except zipfile.BadZipFile as error:
            raise UnreadableFileError(f"{file.path}: cannot be read: {error}") from error
        found = [each for each in archive.infolist() if is_one_of(each.filename, names)]
        if is_needed and not found:
            raise UnreadableFileError(f"{file.path}: no file in it is named {' or '.join(names)}")
        for info in sorted(found, key=lambda info: info.filename):
            path = f"{file.path}/{info.filename}"
            inner = InnerFile(path, info.file_size, location=info.filename)
            inner.archive = archive
            yield inner


def json_items(
    file: InputFile, tap: Tap, path: str = "", about: Mapping[str, str] = {}, inside: str = ""
) -> Iterator[Row]:
    """Yields the objects of a list in a JSON document, one by one, in bounded memory.

    The list is at `path`, such as `messages`, or is the document, or each object at `inside`, a
    path with a dot behind it, has one. `about`: field that each object gets -> where its value
    stands, before the list. An UnreadableFileError if the file is no JSON or has no such list.
    """
    values, lists = dict[str, Any](), 0
    fields = {place: field for field, place in about.items()}

    def watched(events: Iterable[tuple[str, str, Any]]) -> Iterator[tuple[str, str, Any]]:
        nonlocal lists
        for place, event, value in events:
            inner = place.rpartition(inside)[2] if inside else place
            if inner in fields:
                values[fields[inner]] = value
            elif inner == path and event == "start_array":
                lists += 1
            yield inner, event, value

    chunks = read_chunks(file, tap)
    first = next(chunks, b"").removeprefix(_BYTE_ORDER_MARK)
    events = watched(ijson.parse(ijson.from_iter(chain([first], chunks)), use_float=True))
    try:
        for number, record in enumerate(ijson.items(events, f"{path}.item".lstrip(".")), start=1):
            yield Row(number, record | values if isinstance(record, dict) else record)
    except ijson.JSONError as error:
        reason = str(error).partition("\n")[0]  # the rest shows the place
        raise UnreadableFileError(f"{file.path}: not JSON: {reason}") from error
    if not lists:
        what = f"no list {path!r}" if path else "no list"
        raise UnreadableFileError(f"{file.path}: {what} in it; accepted: files as exported")


def row_items(file: InputFile, tap: Tap, names: Sequence[str]) -> Iterator[Row]:
    """Yields the rows of JSON lines, a JSON list or, with those of these fields it has, Parquet."""
    if suffix_of(file.path) != PARQUET:
        with closing(read_chunks(file, Tap())) as chunks:
            if next(chunks, b"").lstrip()[:1] == b"[":
                yield from json_items(file, tap)
                return
    yield from rows_of(file, lambda there: [name for name in names if name in there], tap=tap)

"""The files of an export, also inside zips, and the records in their JSON."""

import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from itertools import chain
from pathlib import PurePath
from typing import Any, BinaryIO, cast

import ijson

from data_pipeline.sources.tables.reader import (
    MISSING,
    PARQUET,
    field_names,
    read_rows,
    suffix_of,
)
from data_pipeline.storage.filesystem import Tap
from data_pipeline.storage.inputs import InputFile, UnreadableFileError
from data_pipeline.storage.lines import MalformedLine, read_chunks

Found = tuple[int, Any] | MalformedLine
"""A record, which should be an object, and its place in the file, from 1; or what is none."""
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


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
    """Yields the files in a zip whose names match one of the patterns; any other file itself.

    Raises:
      UnreadableFileError: if it is named as a zip and is none, or has no such file where needed.
    """
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
) -> Iterator[tuple[int, Any]]:
    """Yields the objects of a list in a JSON document, one by one, in bounded memory.

    Args:
      file: the document.
      tap: what the file is read through.
      path: where the list is, such as `messages`; the document may be the list itself.
      about: field that each object gets -> where its value stands, before the list.
      inside: the path of objects that may each have such a list, with a dot behind it.

    Raises:
      UnreadableFileError: if the file is no JSON, is truncated, or has no such list.
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
            yield number, record | values if isinstance(record, dict) else record
    except ijson.JSONError as error:
        reason = str(error).partition("\n")[0]  # the rest shows the place
        raise UnreadableFileError(f"{file.path}: not JSON: {reason}") from error
    if not lists:
        what = f"no list {path!r}" if path else "no list"
        raise UnreadableFileError(f"{file.path}: {what} in it; accepted: files as exported")


def row_items(file: InputFile, tap: Tap, names: Sequence[str]) -> Iterator[Found]:
    """Yields the fields of these names that rows have: of JSON lines, a JSON list or Parquet.

    Raises:
      UnreadableFileError: if the file cannot be read.
    """
    if suffix_of(file.path) == PARQUET:
        there = field_names(file)
        names = [name for name in names if name in there]
    else:
        with closing(read_chunks(file, Tap())) as chunks:
            if next(chunks, b"").lstrip()[:1] == b"[":
                yield from json_items(file, tap)
                return
    for rows in read_rows(file, names, tap=tap):
        for number, values in zip(rows.numbers, rows.values, strict=True):
            row = zip(names, values, strict=True)
            yield number, {name: value for name, value in row if value is not MISSING}
        yield from rows.malformed

"""The files of an export, also inside zips, and the records in their JSON."""

import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from itertools import chain
from pathlib import PurePath
from typing import Any, BinaryIO, cast

import ijson

from data_pipeline.storage.filesystem import Tap
from data_pipeline.storage.inputs import InputFile, UnreadableFileError, is_one_of
from data_pipeline.storage.lines import MalformedLine, read_chunks

Found = tuple[int, Any] | MalformedLine
"""A record, which should be an object, and its number in the file, from 1; or what could not be
read."""
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


def inner_files(file: InputFile, names: Sequence[str]) -> Iterator[InputFile]:
    """Yields the files in a zip whose names match one of the patterns; any other file itself.

    Raises:
      UnreadableFileError: if it is named as a zip and is none.
    """
    if PurePath(file.path).suffix.lower() != ".zip":
        yield file
        return
    with closing(file.open()) as stream:
        try:
            archive = zipfile.ZipFile(stream)
        except zipfile.BadZipFile as error:
            raise UnreadableFileError(f"{file.path}: cannot be read: {error}") from error
        for info in sorted(archive.infolist(), key=lambda info: info.filename):
            if is_one_of(info.filename, names) and not info.is_dir():
                path = f"{file.path}/{info.filename}"
                inner = InnerFile(path, info.file_size, location=info.filename)
                inner.archive = archive
                yield inner


def json_items(
    file: InputFile, tap: Tap, *, path: str, about: Mapping[str, str], inside: str = ""
) -> Iterator[Found]:
    """Yields the objects of a list in a JSON document, one by one, in bounded memory.

    Args:
      file: the document.
      tap: what the file is read through.
      path: where the list is, such as `messages`.
      about: field that each object gets -> where its value stands, before the list.
      inside: the path of objects that may each have such a list, with a dot behind it.

    Raises:
      UnreadableFileError: if the file is no JSON, is truncated, or has no such list.
    """
    values: dict[str, Any] = {}
    lists = 0
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
    events = ijson.parse(ijson.from_iter(chain([first], chunks)), use_float=True)
    try:
        for number, record in enumerate(ijson.items(watched(events), f"{path}.item"), start=1):
            yield number, record | values if isinstance(record, dict) else record
    except ijson.JSONError as error:
        reason = str(error).partition("\n")[0]  # the rest shows the place
        raise UnreadableFileError(f"{file.path}: not JSON: {reason}") from error
    if not lists:
        raise UnreadableFileError(f"{file.path}: has no list {path!r}")

"""The files that a job reads: found by patterns, checked, and compared with an earlier run.

Paths are local or on any of Beam's filesystems (gs://, s3://, hdfs://; the last to read alone).
"""

import glob
import os
import stat
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from apache_beam.io.filesystem import BeamIOError, FileMetadata
from apache_beam.io.filesystems import FileSystems

from common.errors import InputError
from data_pipeline.storage.filesystem import (
    Tap,
    absolute_path,
    file_crc32c,
    full_path,
    is_remote,
    open_stored,
    reason_of,
    require_reachable,
)

GLOB_CHARACTERS = set("*?[")


class UnreadableFileError(Exception):
    """A file that no second try will read: missing, forbidden, truncated or corrupt."""


class InputFile(NamedTuple):
    """A file to read, or a part of one (`parts`)."""

    path: str
    size: int
    """Bytes of the whole file as stored, that is, compressed."""
    modified: float = 0.0
    """When it was last written, in seconds since 1970; 0 where the filesystem does not say."""
    start: int = 0
    """The stored byte at which the part starts."""
    end: int | None = None
    """The stored byte behind the part; None for the whole file."""
    in_frame: bool = False
    """Whether the part may start or end inside a Zstandard frame: the file is decompressed from its
    start on, and what lies before the part is left out."""
    location: str = ""
    """The absolute path, since workers may run in another folder; empty where it is `path`."""

    @property
    def is_part(self) -> bool:
        """Whether it is a part of a file."""
        return self.end is not None

    @property
    def stored_bytes(self) -> int:
        """Bytes to read, as stored."""
        return (self.size if self.end is None else self.end) - self.start

    @property
    def shown(self) -> str:
        """Its path, and for a part its bytes."""
        return f"{self.path}, bytes {self.start:,} to {self.end:,}" if self.is_part else self.path

    @property
    def full_path(self) -> str:
        """The absolute path, with links resolved."""
        return full_path(self.location or self.path)

    def open(self) -> BinaryIO:
        """Opens it to read its bytes as stored, without decompression."""
        return open_stored(self.location or self.path)

    def describe(self, tap: Tap) -> dict[str, Any]:
        """The file's entry in a manifest, after it was read to its end through `tap`."""
        described = {
            "path": self.full_path,
            "bytes": self.size,
            "modified": self.modified,
            "crc32c": tap.crc32c,
        }
        if self.is_part:
            described["part"] = {"start": self.start, "end": self.end, "lines": tap.lines}
        return described

    def was_left_alone(self, described: dict[str, Any]) -> bool:
        """Whether nobody wrote to the file while it was read; also if it is gone by now."""
        path = self.location or self.path
        try:
            now = FileSystems.get_filesystem(path).metadata(path)
        except BeamIOError:
            return True
        modified = now.last_updated_in_seconds or 0.0
        return self._replace(size=now.size_in_bytes, modified=modified).is_unchanged(described)

    def is_unchanged(self, described: dict[str, Any]) -> bool:
        """Whether it is the file described; if only the time differs, the checksum decides."""
        if described["bytes"] != self.size:
            return False
        return described["modified"] == self.modified or described["crc32c"] == file_crc32c(
            self.location or self.path, start=self.start, size=self.stored_bytes
        )


def find_inputs(values: Sequence[str], *, option: str = "--input") -> list[InputFile]:
    """All files that the values of an option name, each once, sorted by path within a pattern.

    A value is a file name or pattern, or several, separated by commas.

    Raises:
      InputError: if a pattern matches nothing, matches a folder or a stream, or is on a filesystem
        that Beam does not reach.
    """
    found: dict[str, InputFile] = {}
    for value in values:
        _require_reachable(option, value)
        if not _patterns(value):
            raise InputError(
                f"{option}: {value!r} names no file; accepted: file names and patterns"
            )
    for pattern in [pattern for value in values for pattern in _patterns(value)]:
        for file in sorted(_match(option, pattern), key=lambda file: file.path):
            require_unicode(option, file.path)
            modified = file.last_updated_in_seconds or 0.0
            location = absolute_path(file.path)
            stated = InputFile(file.path, file.size_in_bytes, modified, location=location)
            found.setdefault(file.path, stated)
    if not found:
        raise InputError(f"{option}: names no file; accepted: file names and patterns")
    folder = next((path for path in found if Path(path).is_dir()), None)
    if folder is not None:
        raise InputError(
            f"{option}: {folder!r} is a folder; name its files: '{folder.rstrip('/')}/*'"
        )
    _require_regular(option, found)
    # Two names of one file: the first counts.
    once: dict[str, InputFile] = {}
    for each in found.values():
        once.setdefault(each.full_path, each)
    return list(once.values())


def _require_regular(option: str, paths: Iterable[str]) -> None:
    """Refuses pipes and devices: their bytes can be read once only, and a job reads them twice."""
    for path in paths:
        local = Path(path)
        if not is_remote(path) and local.exists() and not local.is_file():
            raise InputError(
                f"{option}: {path!r} is not a regular file; write the stream into one first"
            )


def _require_reachable(option: str, value: str) -> None:
    for part in map(str.strip, value.split(",")):
        try:
            require_reachable(part)
        except (OSError, ValueError) as error:
            raise InputError(f"{option}: {part!r}: {error}") from error


def _patterns(value: str) -> list[str]:
    """A value of `--input` as a whole if it names files, else its parts between commas."""
    if "," in value:
        with suppress(ValueError):  # parts on different filesystems
            if files_of(value):
                return [value]
    return list(filter(None, map(str.strip, value.split(","))))


def _match(option: str, pattern: str) -> list[FileMetadata]:
    try:
        files = files_of(pattern)
    except ValueError as error:  # no filesystem for such paths
        raise InputError(f"{option}: {pattern!r}: {error}") from error
    except OSError as error:
        raise InputError(f"{option}: {pattern!r}: {reason_of(error)}") from error
    if not files:
        raise InputError(
            f"{option}: {pattern!r} matches no file; accepted: file names and patterns, "
            "separated by commas, such as 'dumps/RC_2015-*.zst,more/RC_2016-01.bz2'"
        )
    return files


def files_of(pattern: str) -> list[FileMetadata]:
    """The files that a pattern names; a file of exactly this name comes before a pattern.

    Raises:
      ValueError: if no filesystem has such paths.
      OSError: if a file or folder that the pattern names cannot be read.
    """
    if FileSystems.exists(pattern):
        # Beam takes each name that it matches for a pattern.
        return [FileSystems.get_filesystem(pattern).metadata(pattern)]
    if not is_remote(pattern) and "**" not in pattern:
        return _local_files_of(pattern)
    # Beam finds nothing by a pattern without a folder, such as **.zst.
    (match,) = FileSystems.match([pattern if "/" in pattern else f"./{pattern}"])
    return match.metadata_list


def _local_files_of(pattern: str) -> list[FileMetadata]:
    """The files that a shell finds by this pattern: Beam passes by linked and closed folders."""
    folder, _ = os.path.split(pattern)
    for path in glob.iglob(folder) if folder else ():  # noqa: PTH207 (as below)
        if Path(path).is_dir():
            os.scandir(path).close()
    files = []
    for path in glob.iglob(pattern):  # noqa: PTH207 (names stay as they were given)
        about = Path(path).stat()
        if not stat.S_ISDIR(about.st_mode):
            files.append(FileMetadata(path, about.st_size, about.st_mtime))
    return files


def require_apart(folders: dict[str, str], files: Sequence[InputFile]) -> None:
    """Checks that no input lies in a folder that the job writes, at any depth.

    `folders` is option -> folder.

    Raises:
      InputError: if one does.
    """
    for option, folder in folders.items():
        for file in files:
            # A link inside the folder lies in it too, wherever it points.
            if _lies_in(file.full_path, full_path(folder)) or _lies_in(
                absolute_path(file.path), absolute_path(folder)
            ):
                raise InputError(
                    f"{option}: {folder!r} holds the input {file.path!r}; name a folder without "
                    "inputs"
                )


def _lies_in(path: str, folder: str) -> bool:
    return path.startswith(folder.rstrip("/") + "/")


def require_folder_name(option: str, path: str) -> None:
    """Checks that a folder of this name can be written and listed.

    Raises:
      InputError: if it cannot.
    """
    if not path:
        raise InputError(f"{option}: '' names no folder")
    require_unicode(option, path)
    # Beam takes every path that it lists or deletes for a pattern.
    pattern = next((it for it in (path, absolute_path(path)) if set(it) & GLOB_CHARACTERS), None)
    if pattern is not None:
        raise InputError(f"{option}: {pattern!r} is a pattern; name a folder without *, ? and [")
    if path.startswith("hdfs://"):
        raise InputError(
            f"{option}: {path!r}: Beam replaces no file on HDFS; accepted: local folders, also "
            "mounted ones, and object stores"
        )
    if path.startswith("s3://") and not path.removeprefix("s3://").strip("/").count("/"):
        raise InputError(f"{option}: {path!r} is a whole bucket; name a folder in it")
    try:
        FileSystems.join(path, "")
    except ValueError as error:  # no filesystem for such paths
        raise InputError(f"{option}: {path!r}: {error}") from error


def require_unicode(option: str, path: str) -> None:
    """Checks that a name can be written into manifests and sent to workers.

    Raises:
      InputError: if it is not UTF-8.
    """
    try:
        path.encode()
    except UnicodeEncodeError:
        raise InputError(
            f"{option}: {path!r} is not UTF-8; rename it, or make a link with another name"
        ) from None

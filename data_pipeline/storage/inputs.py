"""The files that a job reads: found by patterns, checked, and compared with an earlier run.

Paths are local or on any of Beam's filesystems (gs://, s3://, hdfs://; the last to read alone).
"""

import glob
import os
import re
from collections.abc import Sequence
from pathlib import Path, PurePath
from typing import Any, BinaryIO, NamedTuple

from apache_beam.io.filesystem import BeamIOError, FileMetadata, FileSystem
from apache_beam.io.filesystems import FileSystems

from common.errors import InputError, reading
from common.files import require_whole
from data_pipeline.storage import filesystem
from data_pipeline.storage.filesystem import Tap, file_crc32c


class UnreadableFileError(Exception):
    """A file that no second try will read: missing, forbidden, truncated or corrupt."""


class InputFile(NamedTuple):
    """A file to read, or a part of one (`shares`)."""

    path: str
    size: int  # bytes of the whole file as stored, that is, compressed
    modified: float = 0.0
    """When it was last written, in seconds since 1970; 0 where the filesystem does not say."""
    start: int = 0
    end: int | None = None
    """The stored bytes where the part starts and behind it; None for the whole file."""
    location: str = ""
    """The absolute path, with links resolved, as workers may run in another folder; empty for
    that of `path`."""
    position: int = 0  # among all files and parts of a job, in reading order

    @property
    def stored_bytes(self) -> int:
        """Bytes to read, as stored."""
        return (self.size if self.end is None else self.end) - self.start

    @property
    def full_path(self) -> str:
        """The absolute path, with links resolved."""
        return self.location or filesystem.full_path(self.path)

    def open(self) -> BinaryIO:
        """Opens it to read its bytes as stored, without decompression."""
        return filesystem.open_stored(self.full_path)

    def describe(self, tap: Tap) -> dict[str, Any]:
        """The file's entry in a manifest; if not all was read through `tap`, it is read again."""
        about = {"path": self.full_path, "bytes": self.size, "modified": self.modified}
        was_read = tap.size == self.size
        return about | {"crc32c": tap.crc32c if was_read else file_crc32c(self.full_path)}

    def was_left_alone(self, described: dict[str, Any]) -> bool:
        """Whether nobody wrote to the file while it was read; also if it is gone by now."""
        try:
            now = _as_input(FileSystems.get_filesystem(self.path).metadata(self.full_path))
        except BeamIOError:
            return True
        return now.is_unchanged(described)

    def is_unchanged(self, described: dict[str, Any]) -> bool:
        """Whether it is the file described; if only the time differs, the checksum decides."""
        is_as_old, checksum = described["modified"] == self.modified, described["crc32c"]
        same_size = described["bytes"] == self.size
        return same_size and (is_as_old or checksum == file_crc32c(self.full_path))


def _as_input(file: FileMetadata) -> InputFile:
    modified, location = file.last_updated_in_seconds or 0.0, filesystem.full_path(file.path)
    return InputFile(file.path, file.size_in_bytes, modified, location=location)


def find_inputs(values: Sequence[str], *, option: str = "--input") -> list[InputFile]:
    """All files that the values of an option name, each once, sorted by path within a pattern.

    A value is a file name or pattern, or several, separated by commas. Raises an InputError if one
    matches nothing, something else than files or a part of what a job published, or a filesystem
    cannot be reached.
    """
    found: dict[str, InputFile] = {}
    for pattern in [pattern for value in values for pattern in _patterns(value)]:
        with reading(f"{option}: {pattern!r}"):
            files = sorted(_as_input(file) for file in files_of(pattern))
        paths = [file.path for file in files]
        if not files:
            raise InputError(
                f"{option}: {pattern!r} matches no file; accepted: file names and patterns, "
                "separated by commas, such as 'dumps/RC_2015-*.zst,more/RC_2016-01.bz2'"
            )
        if paths != [pattern]:
            require_whole(paths, names_in=_names_in, read=filesystem.read_bytes)
        for file in files:
            # A pipe can be read once only, and a job reads its input twice.
            if not filesystem.is_remote(file.path) and not Path(file.path).is_file():
                raise InputError(f"{option}: {file.path!r} is not a file; name the files in it")
            # Two names of one file: the first counts.
            found.setdefault(file.full_path, file)
    if not found:
        raise InputError(f"{option}: names no file; accepted: file names and patterns")
    return list(found.values())


def _names_in(folder: str) -> list[str]:
    if not filesystem.is_remote(folder):
        return os.listdir(folder)  # noqa: PTH208
    return [PurePath(file.path).name for file in filesystem.files_like(folder, "*")]


def _patterns(value: str) -> list[str]:
    """A value as a whole if it names files, else its parts between commas."""
    if "," in value and not filesystem.is_remote(value) and files_of(value):
        return [value]
    return list(filter(None, map(str.strip, value.split(","))))


def files_of(pattern: str) -> list[FileMetadata]:
    """The files that a pattern names, or exactly the file; raises an OSError or a ValueError."""
    if filesystem.is_remote(pattern):
        filesystem.require_reachable(pattern)
        if FileSystems.exists(pattern):
            # Beam takes each name that it matches for a pattern.
            return [FileSystems.get_filesystem(pattern).metadata(pattern)]
        # As in a shell, a/**/b is also a/b, which Beam passes by.
        (match,) = FileSystems.match([pattern.replace("/**/", "/**")])
        regex = FileSystem.translate_pattern(pattern).replace("/.*/", "/(?:.*/)?")
        return [file for file in match.metadata_list if re.match(regex, file.path)]
    # Python's, since Beam passes by linked folders, and by `dir` itself in dir/**/x.
    # `Path.exists` raises for a list of names that is longer than a name may be.
    is_name = os.path.exists(pattern)  # noqa: PTH110
    paths = [pattern] if is_name else glob.glob(pattern, recursive=True)  # noqa: PTH207
    if is_pattern := paths != [pattern]:
        # `glob` passes by folders that it may not list.
        for folder in glob.iglob(os.path.dirname(pattern), recursive=True):  # noqa: PTH120, PTH207
            if Path(folder).is_dir():
                os.scandir(folder).close()
    return [
        FileMetadata(path, stat.st_size, stat.st_mtime)
        for path, stat in ((path, Path(path).stat()) for path in paths)
        if not (is_pattern and Path(path).is_dir())
    ]


def require_apart(output: str, files: Sequence[InputFile]) -> None:
    """Raises an InputError if an input lies in the folder that the job writes, at any depth."""
    for file in files:
        if file.full_path.startswith(filesystem.full_path(output).rstrip("/") + "/"):
            raise InputError(
                f"--output: {output!r} holds the input {file.path!r}; name a folder without inputs"
            )

"""The folder of cached inputs: which input files need not be read again.

    CACHE/_in_use                 locked by every job that uses the folder
    CACHE/RC_2015-02.zst-KEY-ID/  one cached input (see `cached_input`)

Without `--cache` the folder lies in the job's own incomplete folder, and goes with it. With it,
a job reads an input file only if it is not cached already: after a crash, with more files, or for
another format of the same pairs. KEY stands for the file's path and the rules, and every reading
has an ID of its own, so that any number of jobs may share the folder: none writes where another
reads. Two that read one file at the same time both keep it; the next job that has the folder for
itself removes one, and what killed jobs left unfinished.
"""

import fcntl
import json
import os
import re
import uuid
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePath
from typing import Any, NamedTuple

from apache_beam.io.filesystem import FileMetadata
from apache_beam.io.filesystems import FileSystems

from data_pipeline.cache.cached_input import (
    DROPPED_LETTERS,
    FILES,
    FOLDER,
    MANIFEST,
    CachedInput,
    cache_input,
    read_cached_input,
)
from data_pipeline.execution.acceptance import Limits
from data_pipeline.job.join import SUBPARTITIONS
from data_pipeline.sources.source import Source
from data_pipeline.storage.claim import NO_LOCKS
from data_pipeline.storage.filesystem import delete_files, files_like, is_remote, remove_if_empty
from data_pipeline.storage.inputs import InputFile

VERSION = 9
"""Raise it when the same input file is to give another cached input than before."""
IN_USE = "_in_use"


class InputCache(NamedTuple):
    """The folder, and what a cached input must be to be used."""

    folder: str
    source: Source
    compressed: bool
    """Whether messages are compressed when a file is read; both kinds can be used together."""
    max_dead_letters: int = Limits().max_dead_letters
    subpartitions: int = SUBPARTITIONS
    """By which messages are packed: as many as a job's partitions if no other job uses the folder,
    else `SUBPARTITIONS`, which serve any number of partitions."""

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """Keeps other jobs from removing cached inputs; removes leftovers if no other job runs."""
        if is_remote(self.folder):  # object stores have no locks, so nothing is removed there
            yield
            return
        with _locked(self.folder, fcntl.LOCK_EX | fcntl.LOCK_NB) as is_alone:
            if is_alone:
                self._remove_leftovers()
        with _locked(self.folder, fcntl.LOCK_SH):
            yield

    def _prefix(self, file: InputFile) -> str:
        """How the folder names of an input begin; files of one name have one each."""
        # Beam would take a name with *, ? or [ for a pattern.
        readable = re.sub(r"[*?\[\]]", "_", PurePath(file.path).name)
        part = [file.start, file.end] if file.is_part else []
        key = json.dumps([file.full_path, self.rules(), *part], sort_keys=True)
        return f"{readable}-{zlib.crc32(key.encode()):08x}-"

    def rules(self) -> dict[str, Any]:
        """The manifest's entry about the source and this program."""
        return {
            "version": VERSION,
            "subpartitions": self.subpartitions,
            "source": dict(self.source.describe()),
        }

    def find(self, file: InputFile) -> CachedInput | None:
        """The finished cached input of an unchanged file, or None."""
        manifests = files_like(self.folder, f"{self._prefix(file)}*/{MANIFEST}")
        for manifest in sorted(manifests, key=lambda manifest: manifest.path):
            cached = read_cached_input(manifest.path)
            if cached is not None and self._is_usable(cached, file):
                cached.update_time(file)
                return cached
        return None

    def _is_usable(self, cached: CachedInput, file: InputFile) -> bool:
        counts = cached.about["counts"]
        dropped = counts.get(DROPPED_LETTERS, 0)
        return (
            cached.about["rules"] == self.rules()
            and (dropped == 0 or counts["malformed"] - dropped >= self.max_dead_letters)
            and file.is_unchanged(cached.about["input"])
            and cached.is_whole()
        )

    def read(self, file: InputFile, watch: Callable[[int, Counter], None]) -> CachedInput:
        """Reads an input file into the cache; see `cache_input`.

        Raises:
          UnreadableFileError: if the file cannot be opened or is truncated or corrupt.
        """
        return cache_input(
            file,
            FileSystems.join(self.folder, f"{self._prefix(file)}{uuid.uuid4().hex}"),
            source=self.source,
            rules=self.rules(),
            compressed=self.compressed,
            max_dead_letters=self.max_dead_letters,
            watch=watch,
        )

    def forget(self, path: str) -> None:
        """Makes the cached input that a file belongs to an unfinished one."""
        manifest = FileSystems.join(FileSystems.split(path)[0], MANIFEST)
        if FileSystems.exists(manifest):
            FileSystems.delete([manifest])

    def _remove_leftovers(self) -> None:
        """Removes unfinished cached inputs, and all but the last of the same file."""
        last: dict[str, tuple[float, str]] = {}
        cached = self._folders()
        for folder, files in cached.items():
            written = [file for file in files if PurePath(file.path).name == MANIFEST]
            if written:
                this = (written[0].last_updated_in_seconds or 0.0, folder)
                last[_key(folder)] = max(last.get(_key(folder), this), this)
        for folder, files in cached.items():
            if last.get(_key(folder), (0.0, ""))[1] != folder:
                names = (PurePath(file.path).name for file in files)
                delete_files(folder, [name for name in names if name.startswith(FILES)])
                remove_if_empty(folder)

    def _folders(self) -> dict[str, list[FileMetadata]]:
        """Folder -> files of each cached input, finished or not."""
        folders: dict[str, list[FileMetadata]] = {}
        for file in files_like(self.folder, "*/*"):
            folder = FileSystems.split(file.path)[0]
            if FOLDER.fullmatch(PurePath(folder).name):
                folders.setdefault(folder, []).append(file)
        return folders


def _key(folder: str) -> str:
    """The part of a folder's name that all cached inputs of the same file share."""
    return PurePath(folder).name.rpartition("-")[0]


@contextmanager
def _locked(folder: str, how: int) -> Iterator[bool]:
    """Locks a folder, which is created if it does not exist; yields False if it could not.

    The system releases the lock of a process that dies.
    """
    Path(folder).mkdir(parents=True, exist_ok=True)
    descriptor = os.open(Path(folder) / IN_USE, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        yield _lock(descriptor, how)
    finally:
        os.close(descriptor)


def _lock(descriptor: int, how: int) -> bool:
    try:
        fcntl.flock(descriptor, how)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in NO_LOCKS:
            raise
        return False
    return True

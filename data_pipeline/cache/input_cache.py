"""Months that are done: what was read of each dump, packed for the join and kept.

    MONTHS/_in_use                 locked by every job that works with the folder
    MONTHS/RC_2015-02.zst-KEY-ID/  one reading of a dump
        comments.jsonl             the packed comments, filtered; or .zst
        slots.index                where each slot's rows stand in there, and their checksums
        dead_letters.jsonl
        month.json                 written last: without it nothing is done

`month.json` says what was read (path, size, time, checksum) under which rules, what came of it
and with which checksums. A job reads a dump only if no month says that it is done already: after
a crash, with more months, or for another format of the same pairs. KEY stands for the dump's path
and the rules, and every reading has an ID of its own, so that any number of jobs may share the
folder: none writes where another reads. Two that read one dump at the same time both keep it, and
the next job that has the folder for itself removes what is unfinished or there twice.
"""

import json
import logging
import re
import uuid
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import PurePath
from typing import Any, NamedTuple

from apache_beam.io.filesystem import FileMetadata
from apache_beam.io.filesystems import FileSystems

from data_pipeline.cache.cached_input import (
    FILES,
    LEFT_OUT,
    MANIFEST,
    READING,
    CachedInput,
    read_manifest,
    sealed,
)
from data_pipeline.cache.writer import CachedInputWriter
from data_pipeline.execution.acceptance import Limits
from data_pipeline.files.diagnosis import MalformedLine
from data_pipeline.files.inputs import (
    Dump,
    Tap,
    UnreadableDumpError,
    checksum,
    full_path,
    read_line_batches,
)
from data_pipeline.files.output_folder import is_remote, remove_if_empty, write_file
from data_pipeline.files.shared_folder import SharedFolder
from data_pipeline.reddit.comment import MalformedLineError, parse_comment
from data_pipeline.reddit.filters import Rules, Selection
from data_pipeline.reddit.join import SLOTS

_LOG = logging.getLogger(__name__)
VERSION = 2
"""Raise it when the same dump is to give another month than before."""


class Months(NamedTuple):
    """The folder of the months, and what a month must be to count as done."""

    folder: str
    selection: Selection
    compressed: bool
    """Whether the comments of months that are read are compressed: half the bytes, for an engine
    to send around; a tenth of the time. Months of both kinds go together."""
    max_dead_letters: int = Limits().max_dead_letters
    """How many malformed lines of a dump are kept; the others are counted as `LEFT_OUT`."""

    @contextmanager
    def in_use(self, *, private: bool) -> Iterator[None]:
        """Keeps other jobs from removing readings; removes what is left over if it can.

        Args:
          private: whether no other job can use the folder, since it lies in a claimed one.
        """
        if is_remote(self.folder):
            if private:
                self._remove_leftovers()
            yield
            return
        folder = SharedFolder(self.folder)
        with folder.alone() as is_alone:
            if is_alone:
                self._remove_leftovers()
        with folder.used():
            yield

    def _prefix(self, dump: Dump) -> str:
        """How the folders of a dump's readings begin; dumps of one name have one each."""
        # Beam would take a name with the signs of a pattern for one.
        readable = re.sub(r"[*?\[\]]", "_", PurePath(dump.path).name)
        key = json.dumps([full_path(dump), self.rules()], sort_keys=True)
        name = f"{readable}-{zlib.crc32(key.encode()):08x}-"
        return FileSystems.join(self.folder, name)

    def rules(self) -> dict[str, Any]:
        """What `month.json` says of the rules and of this program."""
        return {"version": VERSION, "slots": SLOTS, "selection": self.selection.describe()}

    def find(self, dump: Dump) -> CachedInput | None:
        """The reading of a dump that is done and unchanged, or None."""
        (match,) = FileSystems.match([f"{self._prefix(dump)}*/{MANIFEST}"])
        for file in sorted(match.metadata_list, key=lambda file: file.path):
            month = read_manifest(file.path)
            if month is not None and self._is_usable(month, dump):
                month.remember_time(dump)
                return month
        return None

    def _is_usable(self, month: CachedInput, dump: Dump) -> bool:
        counts = month.about["counts"]
        left_out = counts.get(LEFT_OUT, 0)
        return (
            month.about["rules"] == self.rules()
            and (left_out == 0 or counts["malformed"] - left_out >= self.max_dead_letters)
            and is_as_before(month.about["input"], dump)
            and month.is_whole()
        )

    def read(self, dump: Dump, watch: Callable[[int, Counter], None]) -> CachedInput:
        """Reads a dump into a month.

        Args:
          dump: what to read.
          watch: is told now and then how many stored bytes were read so far, and what was
            counted since it was told last.

        Raises:
          UnreadableDumpError: if the file cannot be opened or is truncated or corrupt.
        """
        folder = f"{self._prefix(dump)}{uuid.uuid4().hex}"
        FileSystems.mkdirs(folder)
        tap, rules = Tap(), Rules(self.selection)
        with ExitStack() as files:
            writer = CachedInputWriter(
                folder,
                files,
                compressed=self.compressed,
                max_dead_letters=self.max_dead_letters,
                subreddits=self.selection.subreddits,
            )
            for batch in read_line_batches(dump, tap):
                watch(tap.size, writer.take(batch, rules))
            writer.flush()
        about = {
            "input": {
                "path": full_path(dump),
                "bytes": dump.size,
                "modified": dump.modified,
                "crc32c": tap.crc32c,
            },
            "rules": self.rules(),
            "counts": writer.counts,
            "malformed_reasons": writer.reasons,
            "dropped_examples": {
                rules.names[rule]: writer.examples[rule] for rule in writer.examples
            },
            "subreddits": sorted(writer.subreddits),
            "outputs": {
                name: {"bytes": file.size, "crc32c": file.crc32c}
                for name, file in writer.files.items()
            },
        }
        write_file(FileSystems.join(folder, MANIFEST), sealed(about))
        return CachedInput(folder, about)

    def forget(self, path: str) -> None:
        """Makes the reading that a file belongs to one that is not done."""
        manifest = FileSystems.join(FileSystems.split(path)[0], MANIFEST)
        if FileSystems.exists(manifest):
            FileSystems.delete([manifest])

    def discard(self, dumps: list[Dump]) -> None:
        """Removes the months of these dumps, unless other jobs use the folder."""
        if is_remote(self.folder):
            self._remove(dumps)
            return
        folder = SharedFolder(self.folder)
        with folder.alone() as is_alone:
            if not is_alone:
                _LOG.info("%s is in use by another job: its months stay", self.folder)
                return
            self._remove(dumps)
            folder.remove_if_empty()

    def _remove(self, dumps: list[Dump]) -> None:
        for dump in dumps:
            for files in self._readings(self._prefix(dump)).values():
                _remove_reading(files)

    def _remove_leftovers(self) -> None:
        """Removes readings that killed jobs left unfinished, and all but one of the same dump."""
        last: dict[str, tuple[float, str]] = {}
        readings = self._readings(FileSystems.join(self.folder, ""))
        for folder, files in readings.items():
            written = [file for file in files if PurePath(file.path).name == MANIFEST]
            if written:
                # The last to be written is of the dump as it was last.
                reading = (written[0].last_updated_in_seconds or 0.0, folder)
                last[_key(folder)] = max(last.get(_key(folder), reading), reading)
        for folder, files in readings.items():
            if last.get(_key(folder), (0.0, ""))[1] != folder:
                _remove_reading(files)

    def _readings(self, prefix: str) -> dict[str, list[FileMetadata]]:
        """By folder, the files of all readings whose paths begin like this."""
        (match,) = FileSystems.match([f"{prefix}*/*"])
        readings: dict[str, list[FileMetadata]] = {}
        for file in match.metadata_list:
            folder = FileSystems.split(file.path)[0]
            if READING.fullmatch(PurePath(folder).name):
                readings.setdefault(folder, []).append(file)
        return readings


def _key(folder: str) -> str:
    """What all readings of a dump have in common, of a folder's name."""
    return PurePath(folder).name.rpartition("-")[0]


def _remove_reading(files: list[FileMetadata]) -> None:
    """Removes the files that a reading has, then its folder if nothing else is in it."""
    ours = [file.path for file in files if PurePath(file.path).name.startswith(FILES)]
    if ours:
        FileSystems.delete(ours)
    remove_if_empty(FileSystems.split(files[0].path)[0])


def is_as_before(before: dict[str, Any], dump: Dump) -> bool:
    """Whether a dump is what was read; its contents decide where only the time differs."""
    if before["bytes"] != dump.size:
        return False
    return before["modified"] == dump.modified or before["crc32c"] == checksum(dump.path)


def first_malformed(dump: Dump) -> MalformedLine | None:
    """The first line of a dump that is no comment; None if there is none any more."""
    with suppress(UnreadableDumpError):
        for batch in read_line_batches(dump, Tap()):
            for number, line in enumerate(batch.lines, start=batch.first_line):
                try:
                    parse_comment(line)
                except MalformedLineError as error:
                    return MalformedLine(dump.path, number, line, str(error))
    return None

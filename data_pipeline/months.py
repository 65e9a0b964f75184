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
from contextlib import ExitStack, closing, contextmanager, suppress
from itertools import pairwise
from pathlib import PurePath
from typing import Any, NamedTuple

import google_crc32c
import numpy as np
from apache_beam.io.filesystem import FileMetadata
from apache_beam.io.filesystems import FileSystems

from data_pipeline.acceptance import Limits
from data_pipeline.blocks import PART, Block, BlockFile, Compressor, DamagedFileError
from data_pipeline.comments import KEPT_OF_TOO_LONG, MalformedLineError, dead_letter, parse_comment
from data_pipeline.diagnosis import MalformedLine
from data_pipeline.dumps import (
    MAX_LINE_BYTES,
    Dump,
    LineBatch,
    Tap,
    UnreadableDumpError,
    checksum,
    full_path,
    read_line_batches,
)
from data_pipeline.filters import Rules, Selection
from data_pipeline.manifests import INPUT, Each, parse_manifest
from data_pipeline.output import (
    as_json,
    is_remote,
    open_stored,
    read_bytes,
    remove_if_empty,
    write_file,
)
from data_pipeline.pairing import SLOTS, Packer, bucket_of_slot
from data_pipeline.shared_folder import SharedFolder

_LOG = logging.getLogger(__name__)
VERSION = 2
"""Raise it when the same dump is to give another month than before."""
COMMENTS_A_PACK = 100_000
LEFT_OUT = "dead_letters_left_out"
"""Among the counts of a month: malformed lines that are not among its dead letters."""
EXAMPLES = 3
"""Examples of dropped comments that are kept for each rule."""

_PLAIN = "comments.jsonl"
_COMPRESSED = "comments.jsonl.zst"
_INDEX = "slots.index"
_DEAD_LETTERS = "dead_letters.jsonl"
_MANIFEST = "month.json"
_FILES = (_PLAIN, _INDEX, _DEAD_LETTERS, _MANIFEST)
"""How the names of a reading's files begin, compressed or half written too."""
_SEAL = "checksum"
_OUTPUTS = [{comments, _INDEX, _DEAD_LETTERS} for comments in (_PLAIN, _COMPRESSED)]
_SHAPE = {
    "input": INPUT,
    "rules": dict,
    "counts": {"lines": int, "malformed": int},
    "malformed_reasons": Each(int),
    "dropped_examples": Each(list),
    "subreddits": list,
    "outputs": Each({"bytes": int, "crc32c": str}),
    _SEAL: str,
}
"""The shape of `month.json`."""
_READING = re.compile(r".+-[0-9a-f]{8}-[0-9a-f]{32}")


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

    def find(self, dump: Dump) -> "Month | None":
        """The reading of a dump that is done and unchanged, or None."""
        (match,) = FileSystems.match([f"{self._prefix(dump)}*/{_MANIFEST}"])
        for file in sorted(match.metadata_list, key=lambda file: file.path):
            month = _read_month(file.path)
            if month is not None and self._is_usable(month, dump):
                month.remember_time(dump)
                return month
        return None

    def _is_usable(self, month: "Month", dump: Dump) -> bool:
        counts = month.about["counts"]
        left_out = counts.get(LEFT_OUT, 0)
        return (
            month.about["rules"] == self.rules()
            and (left_out == 0 or counts["malformed"] - left_out >= self.max_dead_letters)
            and is_as_before(month.about["input"], dump)
            and month.is_whole()
        )

    def read(self, dump: Dump, watch: Callable[[int, Counter], None]) -> "Month":
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
            writer = _MonthWriter(folder, files, self)
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
        write_file(FileSystems.join(folder, _MANIFEST), _sealed(about))
        return Month(folder, about)

    def forget(self, path: str) -> None:
        """Makes the reading that a file belongs to one that is not done."""
        manifest = FileSystems.join(FileSystems.split(path)[0], _MANIFEST)
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
            written = [file for file in files if PurePath(file.path).name == _MANIFEST]
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
            if _READING.fullmatch(PurePath(folder).name):
                readings.setdefault(folder, []).append(file)
        return readings


class Month(NamedTuple):
    """A reading that is done."""

    folder: str
    about: dict[str, Any]
    """What `month.json` says."""

    def is_whole(self) -> bool:
        """Whether all its files are there with the sizes they had."""
        (match,) = FileSystems.match([FileSystems.join(self.folder, "*")])
        sizes = {PurePath(file.path).name: file.size_in_bytes for file in match.metadata_list}
        outputs = self.about["outputs"].items()
        return all(sizes.get(name) == output["bytes"] for name, output in outputs)

    def remember_time(self, dump: Dump) -> None:
        """Writes the time of an unchanged dump into `month.json`, so that it is hashed once."""
        if self.about["input"]["modified"] != dump.modified:
            self.about["input"]["modified"] = dump.modified
            with suppress(OSError):  # a folder that is only read
                write_file(FileSystems.join(self.folder, _MANIFEST), _sealed(self.about))

    def checked(self, name: str) -> bytes:
        """A whole file of the month.

        Raises:
          DamagedFileError: if it is not what was written.
        """
        path = FileSystems.join(self.folder, name)
        content = read_bytes(path)
        if f"{google_crc32c.value(content):08x}" != self.about["outputs"][name]["crc32c"]:
            raise DamagedFileError(path)
        return content


def _sealed(about: dict[str, Any]) -> bytes:
    """What `month.json` holds: the manifest, with a checksum of the rest of it."""
    rest = {name: value for name, value in about.items() if name != _SEAL}
    return as_json(rest | {_SEAL: f"{google_crc32c.value(as_json(rest)):08x}"})


def _read_month(path: str) -> Month | None:
    try:
        about = parse_manifest(read_bytes(path), _SHAPE)
        if about["outputs"].keys() not in _OUTPUTS:
            raise ValueError("'outputs' does not list its files")
        if _sealed(about) != as_json(about):
            raise ValueError("its checksum has changed")
    except ValueError as error:  # a machine that lost its power can leave it without contents
        _LOG.warning("warning: %s is damaged (%s); its dump is read again", path, error)
        if _READING.fullmatch(PurePath(path).parent.name):
            with suppress(OSError):  # another job was faster
                FileSystems.delete([path])
        return None
    return Month(FileSystems.split(path)[0], about)


def _key(folder: str) -> str:
    """What all readings of a dump have in common, of a folder's name."""
    return PurePath(folder).name.rpartition("-")[0]


def _remove_reading(files: list[FileMetadata]) -> None:
    """Removes the files that a reading has, then its folder if nothing else is in it."""
    ours = [file.path for file in files if PurePath(file.path).name.startswith(_FILES)]
    if ours:
        FileSystems.delete(ours)
    remove_if_empty(FileSystems.split(files[0].path)[0])


def is_as_before(before: dict[str, Any], dump: Dump) -> bool:
    """Whether a dump is what was read; its contents decide where only the time differs."""
    if before["bytes"] != dump.size:
        return False
    return before["modified"] == dump.modified or before["crc32c"] == checksum(dump.path)


class _MonthWriter:
    """Packs what is read of one dump, and counts."""

    def __init__(self, folder: str, stack: ExitStack, months: Months):
        self._comments = _COMPRESSED if months.compressed else _PLAIN
        self._max_dead_letters = months.max_dead_letters
        self._wanted = months.selection.subreddits
        self.files = {
            name: stack.enter_context(BlockFile(FileSystems.join(folder, name)))
            for name in (self._comments, _INDEX, _DEAD_LETTERS)
        }
        self.counts: Counter = Counter(lines=0, malformed=0)
        self.reasons: Counter = Counter()
        self.examples: dict[int, list[str]] = {}
        """Index of the rule -> beginnings of the first texts that it dropped."""
        self.subreddits: set[str] = set()
        """Those of `--subreddits` that have a comment, kept or not."""
        self._dead_letters = 0
        self._packer = Packer()
        self._compress = Compressor() if months.compressed else bytes

    def take(self, batch: LineBatch, rules: Rules) -> Counter:
        """Adds the comments of some lines; returns what was counted."""
        malformed = 0
        names: set[str] = set()
        that_drops, add = rules.that_drops, self._packer.add
        for index, line in enumerate(batch.lines):
            try:
                comment = parse_comment(line)
            except MalformedLineError as error:
                malformed += 1
                self._put_aside(batch, index, str(error))
                continue
            if self._wanted:
                names.add(comment.subreddit)
            rule = that_drops(comment)
            if rule is not None:
                self._keep_example(rule, comment.text)
            add(comment, rule)
        if self._packer.comments >= COMMENTS_A_PACK:
            self.flush()
        self.subreddits |= self._wanted & set(map(str.lower, names))
        counts = Counter(lines=len(batch.lines), malformed=malformed)
        self.counts.update(counts)
        return counts

    def _keep_example(self, rule: int, text: str) -> None:
        examples = self.examples.setdefault(rule, [])
        if len(examples) < EXAMPLES:
            examples.append(text[:KEPT_OF_TOO_LONG])

    def _put_aside(self, batch: LineBatch, index: int, reason: str) -> None:
        line = batch.lines[index]
        if index in batch.too_long:
            # Cut off, it is no JSON any more.
            reason = f"a line of {batch.too_long[index]} bytes; at most {MAX_LINE_BYTES} are read"
            line = line[:KEPT_OF_TOO_LONG]
        # Without the column at which JSON ended, of which there are as many as lines.
        self.reasons[reason.partition(":")[0]] += 1
        if self._dead_letters == self._max_dead_letters:
            self.counts[LEFT_OUT] += 1
            return
        self._dead_letters += 1
        letter = dead_letter(
            path=batch.path, line_number=batch.first_line + index, reason=reason, line=line
        )
        self.files[_DEAD_LETTERS].append(letter)

    def flush(self) -> None:
        """Writes what is packed."""
        parts = np.zeros(SLOTS, PART)
        frames = []
        for slot, rows in self._packer.packed():
            frame = self._compress(rows)
            parts[slot] = len(frame), google_crc32c.value(frame)
            frames.append(frame)
        self.files[self._comments].append(b"".join(frames))
        self.files[_INDEX].append(parts.tobytes())
        self._packer = Packer()


def blocks_by_bucket(
    month: Month, *, position: int, buckets: int, at_hand: bool
) -> Iterator[tuple[int, Block]]:
    """Hands out a month: for each pack and bucket, the block of the bucket's slots.

    Args:
      month: the reading.
      position: of the dump among the inputs, which decides what is read first.
      buckets: of the join, at most `SLOTS`.
      at_hand: whether the blocks carry their bytes, or stay in the month's file.

    Raises:
      DamagedFileError: if the index is not what was written.
    """
    compressed = _COMPRESSED in month.about["outputs"]
    path = FileSystems.join(month.folder, _COMPRESSED if compressed else _PLAIN)
    first_slots = np.searchsorted(
        [bucket_of_slot(slot, buckets) for slot in range(SLOTS)], np.arange(buckets + 1)
    )
    index = np.frombuffer(month.checked(_INDEX), PART)
    begin = 0
    with ExitStack() as stack:
        stream = stack.enter_context(open_stored(path)) if at_hand else None
        for parts in index.reshape(-1, SLOTS):
            ends = begin + np.concatenate([[0], np.cumsum(parts["length"], dtype=np.int64)])
            pack = stream.read(int(ends[-1]) - begin) if stream else b""
            edges = ends[first_slots].tolist()
            for bucket, (start, end) in enumerate(pairwise(edges)):
                if start < end:
                    data = pack[start - begin : end - begin] if at_hand else None
                    slots = parts[first_slots[bucket] : first_slots[bucket + 1]]
                    yield (
                        bucket,
                        Block(
                            path,
                            start,
                            end - start,
                            data,
                            compressed,
                            position=position,
                            parts=slots[slots["length"] > 0].tobytes(),
                        ),
                    )
            begin = int(ends[-1])


def dead_letters(month: Month) -> Iterator[bytes]:
    """The dead letters of a month, one JSON object a line, read as they are asked for.

    Raises:
      DamagedFileError: at their end, if they are not what was written.
    """
    path = FileSystems.join(month.folder, _DEAD_LETTERS)
    checksum = google_crc32c.Checksum()
    with closing(open_stored(path)) as stream:
        for line in stream:
            checksum.update(line)
            yield line
    if checksum.hexdigest().decode() != month.about["outputs"][_DEAD_LETTERS]["crc32c"]:
        raise DamagedFileError(path)


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

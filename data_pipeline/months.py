"""Months that are done: what was read of each dump, packed for the join and kept.

    MONTHS/RC_2015-02.zst-1a2b3c4d/comments.jsonl    the packed comments, filtered; or .zst
                                   slots.index       where each slot's rows stand in there
                                   dead_letters.jsonl
                                   month.json        written last: without it nothing is done

`month.json` says what was read (path, size, time, checksum) under which rules, what came of it
and with which checksums. A job reads a dump only if no month says that it is done already: after
a crash, with more months, or for another format of the same pairs.
"""

import json
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import pairwise
from pathlib import PurePath
from typing import Any, NamedTuple

import numpy as np
from apache_beam.io.filesystems import FileSystems

from data_pipeline.blocks import Block, BlockFile, Compressor
from data_pipeline.comments import KEPT_OF_TOO_LONG, MalformedLineError, dead_letter, parse_comment
from data_pipeline.dumps import (
    MAX_LINE_BYTES,
    Dump,
    LineBatch,
    Tap,
    checksum,
    full_path,
    read_line_batches,
)
from data_pipeline.filters import Rules, Selection
from data_pipeline.output import as_json, open_stored, read_bytes, write_file
from data_pipeline.pairing import SLOTS, Packer, bucket_of_slot

VERSION = 1
"""Raise it when the same dump is to give another month than before."""
COMMENTS_A_PACK = 100_000
EXAMPLES = 3
"""Examples of dropped comments that are kept for each rule."""

_PLAIN = "comments.jsonl"
_COMPRESSED = "comments.jsonl.zst"
_INDEX = "slots.index"
_DEAD_LETTERS = "dead_letters.jsonl"
_MANIFEST = "month.json"
_LENGTHS = np.dtype("<u4")


class Months(NamedTuple):
    """The folder of the months, and what a month must be to count as done."""

    folder: str
    selection: Selection
    compressed: bool
    """Whether the comments of months that are read are compressed: half the bytes, for an engine
    to send around; a tenth of the time. Months of both kinds go together."""

    def of(self, dump: Dump) -> str:
        """The folder of one dump's month; dumps of one name in two folders have two."""
        # Beam would take a name with the signs of a pattern for one.
        readable = re.sub(r"[*?\[\]]", "_", PurePath(dump.path).name)
        name = f"{readable}-{zlib.crc32(full_path(dump).encode()):08x}"
        return FileSystems.join(self.folder, name)

    def rules(self) -> dict[str, Any]:
        """What `month.json` says of the rules and of this program."""
        return {"version": VERSION, "slots": SLOTS, "selection": self.selection.describe()}

    def find(self, dump: Dump) -> dict[str, Any] | None:
        """The manifest of a dump that is done and unchanged, or None."""
        path = FileSystems.join(self.of(dump), _MANIFEST)
        if not FileSystems.exists(path):
            return None
        try:
            month = json.loads(read_bytes(path))
        except ValueError:  # a machine that lost its power can leave it without its contents
            return None
        if month["rules"] != self.rules() or not is_as_before(month["input"], dump):
            return None
        return month if self._is_whole(dump, month["outputs"]) else None

    def read(self, dump: Dump, watch: Callable[[int, Counter], None]) -> dict[str, Any]:
        """Reads a dump into its month, and returns the manifest.

        Args:
          dump: what to read.
          watch: is told now and then how many stored bytes were read so far, and what was
            counted since it was told last.

        Raises:
          UnreadableDumpError: if the file cannot be opened or is truncated or corrupt.
        """
        folder = self.of(dump)
        if FileSystems.exists(folder):
            # What is left of another try, or of the dump as it was before.
            FileSystems.delete([folder])
        FileSystems.mkdirs(folder)
        tap, rules = Tap(), Rules(self.selection)
        with ExitStack() as files:
            writer = _MonthWriter(folder, files, compressed=self.compressed)
            for batch in read_line_batches(dump, tap):
                watch(tap.size, writer.take(batch, rules))
            writer.flush()
        month = {
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
            "outputs": {
                name: {"bytes": file.size, "crc32c": file.crc32c}
                for name, file in writer.files.items()
            },
        }
        write_file(FileSystems.join(folder, _MANIFEST), as_json(month))
        return month

    def discard(self, dumps: list[Dump]) -> None:
        """Removes the months of these dumps, and the folder if there are no others in it."""
        FileSystems.delete([self.of(dump) for dump in dumps])
        (others,) = FileSystems.match([FileSystems.join(self.folder, "**")])
        if not others.metadata_list and FileSystems.exists(self.folder):
            FileSystems.delete([self.folder])

    def _is_whole(self, dump: Dump, outputs: dict[str, dict[str, Any]]) -> bool:
        (match,) = FileSystems.match([FileSystems.join(self.of(dump), "*")])
        sizes = {PurePath(file.path).name: file.size_in_bytes for file in match.metadata_list}
        return all(sizes.get(name) == output["bytes"] for name, output in outputs.items())


def is_as_before(before: dict[str, Any], dump: Dump) -> bool:
    """Whether a dump is what was read; its contents decide where only the time differs."""
    if before["bytes"] != dump.size:
        return False
    return before["modified"] == dump.modified or before["crc32c"] == checksum(dump.path)


class _MonthWriter:
    """Packs what is read of one dump, and counts."""

    def __init__(self, folder: str, stack: ExitStack, *, compressed: bool):
        self._comments = _COMPRESSED if compressed else _PLAIN
        self.files = {
            name: stack.enter_context(BlockFile(FileSystems.join(folder, name)))
            for name in (self._comments, _INDEX, _DEAD_LETTERS)
        }
        self.counts: Counter = Counter(lines=0, malformed=0)
        self.reasons: Counter = Counter()
        self.examples: dict[int, list[str]] = {}
        """Index of the rule -> beginnings of the first texts that it dropped."""
        self._packer = Packer()
        self._compress = Compressor() if compressed else bytes

    def take(self, batch: LineBatch, rules: Rules) -> Counter:
        """Adds the comments of some lines; returns what was counted."""
        malformed = 0
        that_drops, add = rules.that_drops, self._packer.add
        for index, line in enumerate(batch.lines):
            try:
                comment = parse_comment(line)
            except MalformedLineError as error:
                malformed += 1
                self._put_aside(batch, index, str(error))
                continue
            rule = that_drops(comment)
            if rule is not None:
                self._keep_example(rule, comment.text)
            add(comment, rule)
        if self._packer.comments >= COMMENTS_A_PACK:
            self.flush()
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
        letter = dead_letter(
            path=batch.path, line_number=batch.first_line + index, reason=reason, line=line
        )
        self.files[_DEAD_LETTERS].append(letter)

    def flush(self) -> None:
        """Writes what is packed."""
        lengths = np.zeros(SLOTS, _LENGTHS)
        frames = []
        for slot, rows in self._packer.packed():
            frame = self._compress(rows)
            lengths[slot] = len(frame)
            frames.append(frame)
        self.files[self._comments].append(b"".join(frames))
        self.files[_INDEX].append(lengths.tobytes())
        self._packer = Packer()


def blocks_by_bucket(folder: str, *, buckets: int, at_hand: bool) -> Iterator[tuple[int, Block]]:
    """Hands out a month: for each pack and bucket, the block of the bucket's slots.

    Args:
      folder: the month's.
      buckets: of the join, at most `SLOTS`.
      at_hand: whether the blocks carry their bytes, or stay in the month's file.
    """
    path = FileSystems.join(folder, _COMPRESSED)
    compressed = FileSystems.exists(path)
    if not compressed:
        path = FileSystems.join(folder, _PLAIN)
    first_slots = np.searchsorted(
        [bucket_of_slot(slot, buckets) for slot in range(SLOTS)], np.arange(buckets + 1)
    )
    index = np.frombuffer(read_bytes(FileSystems.join(folder, _INDEX)), _LENGTHS)
    begin = 0
    with ExitStack() as stack:
        stream = stack.enter_context(open_stored(path)) if at_hand else None
        for lengths in index.reshape(-1, SLOTS):
            ends = begin + np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
            pack = stream.read(int(ends[-1]) - begin) if stream else b""
            edges = ends[first_slots].tolist()
            for bucket, (start, end) in enumerate(pairwise(edges)):
                if start < end:
                    data = pack[start - begin : end - begin] if at_hand else None
                    yield bucket, Block(path, start, end - start, data, compressed)
            begin = int(ends[-1])


def dead_letters(folder: str) -> bytes:
    """The dead letters of a month, one JSON object a line."""
    return read_bytes(FileSystems.join(folder, _DEAD_LETTERS))

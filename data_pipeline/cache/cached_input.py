"""An input file, or a part of one, as it was read: messages parsed, judged and packed.

    RC_2015-02.zst-KEY-ID/
        messages.arrow        the packed messages; or .zst
        partitions.index      where each subpartition's rows are in there, and their checksums
        dead_letters.jsonl    the malformed lines
        cached_input.json     the manifest, written last: without it the folder is unfinished

The manifest says what was read (path, size, time, checksum) by which rules, what was counted, and
the checksums of the other files.
"""

import logging
import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, suppress
from functools import partial, reduce
from itertools import pairwise
from pathlib import PurePath
from typing import Any, NamedTuple

import google_crc32c
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from apache_beam.io.filesystems import FileSystems

from data_pipeline.execution.columns import Rows
from data_pipeline.execution.shuffle import CHUNK, Block, Compressor, DamagedFileError
from data_pipeline.job.join import Packer
from data_pipeline.job.whole_rows import WholePacker, make_packer
from data_pipeline.sources.source import MessageBatch, Source
from data_pipeline.storage.filesystem import (
    NewFile,
    Tap,
    as_json,
    crc32c,
    files_like,
    open_stored,
    read_bytes,
    write_file,
)
from data_pipeline.storage.inputs import InputFile
from data_pipeline.storage.malformed_lines import KEPT_OF_TOO_LONG, MalformedLine
from data_pipeline.storage.manifests import INPUT_SHAPE, Each, parse_manifest

_LOG = logging.getLogger(__name__)
MESSAGES_A_PACK = 300_000
BYTES_A_PACK = 128 << 20
"""A pack is written once it has as many messages or bytes; three times as many are in memory."""
_WRITE_BYTES = 4 << 20
"""Frames are written together: Linux takes a third of the time for large writes."""
EXAMPLES = 3
"""Examples of dropped messages that are kept for each rule."""
MOST_REASONS = 100
"""Reasons why lines are malformed that are counted by themselves; the rest together."""
OTHER_REASONS = "other reasons"
DROPPED_LETTERS = "dead_letters_left_out"
"""Among the counts: malformed lines that are not among the dead letters."""
PLAIN = "messages.arrow"
COMPRESSED = "messages.arrow.zst"
INDEX = "partitions.index"
DEAD_LETTERS = "dead_letters.jsonl"
MANIFEST = "cached_input.json"
FILES = (PLAIN, INDEX, DEAD_LETTERS, MANIFEST)
"""Every file of a cached input has a name that begins with one of these."""
FOLDER = re.compile(r".+-[0-9a-f]{8}-[0-9a-f]{32}")
"""The names of folders of cached inputs."""
_CHECKSUM = "checksum"
_OUTPUTS = [{comments, INDEX, DEAD_LETTERS} for comments in (PLAIN, COMPRESSED)]
_SHAPE = {
    "input": INPUT_SHAPE,
    "rules": dict,
    "counts": {"lines": int, "malformed": int},
    "malformed_reasons": Each(int),
    "dropped_examples": Each(list),
    "groups": list,
    "outputs": Each({"bytes": int, "crc32c": str}),
    _CHECKSUM: str,
}
"""The shape of the manifest."""


class CachedInput(NamedTuple):
    """An input file that was read to its end."""

    folder: str
    about: dict[str, Any]
    """The manifest."""

    def is_whole(self) -> bool:
        """Whether all its files exist with the sizes they had."""
        files = files_like(self.folder, "*")
        sizes = {PurePath(file.path).name: file.size_in_bytes for file in files}
        outputs = self.about["outputs"].items()
        return all(sizes.get(name) == output["bytes"] for name, output in outputs)

    def update_time(self, file: InputFile) -> None:
        """Writes the time of an unchanged input into the manifest, so that it is hashed once."""
        if self.about["input"]["modified"] != file.modified:
            self.about["input"]["modified"] = file.modified
            with suppress(OSError):  # a read-only folder
                write_file(FileSystems.join(self.folder, MANIFEST), _with_checksum(self.about))

    def dead_letters(self) -> Iterator[bytes]:
        """The malformed lines, one JSON object a line.

        Raises:
          DamagedFileError: at their end, if they have changed since they were written.
        """
        path = FileSystems.join(self.folder, DEAD_LETTERS)
        checksum = google_crc32c.Checksum()
        with closing(open_stored(path)) as stream:
            for line in stream:
                checksum.update(line)
                yield line
        if checksum.hexdigest().decode() != self.about["outputs"][DEAD_LETTERS]["crc32c"]:
            raise DamagedFileError(path)

    def blocks(
        self, *, position: int, partitions: int, inline: bool
    ) -> Iterator[tuple[int, Block]]:
        """Yields (partition, block of comments) for each pack and partition.

        Args:
          position: of the file among the inputs, which decides the reading order.
          partitions: of the join: the subpartitions by which the messages are packed, or fewer.
          inline: whether blocks hold their bytes, or say where they are in the file.

        Raises:
          DamagedFileError: if the index has changed since it was written.
        """
        compressed = COMPRESSED in self.about["outputs"]
        path = FileSystems.join(self.folder, COMPRESSED if compressed else PLAIN)
        subpartitions = np.arange(self._subpartitions)
        firsts = np.searchsorted(
            subpartitions * partitions // len(subpartitions), np.arange(partitions + 1)
        )
        start = 0
        with ExitStack() as stack:
            stream = stack.enter_context(open_stored(path)) if inline else None
            for chunks in self._index():
                ends = start + np.concatenate([[0], np.cumsum(chunks["length"], dtype=np.int64)])
                pack = stream.read(int(ends[-1]) - start) if stream else b""
                for partition, (begin, end) in enumerate(pairwise(ends[firsts].tolist())):
                    if begin < end:
                        of_block = chunks[firsts[partition] : firsts[partition + 1]]
                        block = Block(
                            path,
                            begin,
                            end - begin,
                            pack[begin - start : end - start] if inline else None,
                            compressed,
                            position=position,
                            chunks=of_block[of_block["length"] > 0].tobytes(),
                        )
                        yield partition, block
                start = int(ends[-1])

    @property
    def _subpartitions(self) -> int:
        return self.about["rules"]["subpartitions"]

    def _index(self) -> np.ndarray:
        """[packs, subpartitions] of `CHUNK`."""
        path = FileSystems.join(self.folder, INDEX)
        content = read_bytes(path)
        if crc32c(content) != self.about["outputs"][INDEX]["crc32c"]:
            raise DamagedFileError(path)
        return np.frombuffer(content, CHUNK).reshape(-1, self._subpartitions)


def _with_checksum(about: dict[str, Any]) -> bytes:
    """The contents of the manifest's file: the manifest, with a checksum of the rest of it."""
    rest = {name: value for name, value in about.items() if name != _CHECKSUM}
    return as_json(rest | {_CHECKSUM: crc32c(as_json(rest))})


def read_cached_input(path: str) -> CachedInput | None:
    """The cached input of a manifest; a damaged manifest is removed, with a warning."""
    try:
        about = parse_manifest(read_bytes(path), _SHAPE)
        if about["outputs"].keys() not in _OUTPUTS:
            raise ValueError("'outputs' does not list its files")
        if _with_checksum(about) != as_json(about):
            raise ValueError("its checksum has changed")
    except ValueError as error:  # after a loss of power it may be empty
        _LOG.warning("warning: %s is damaged (%s); its input file is read again", path, error)
        if FOLDER.fullmatch(PurePath(path).parent.name):
            with suppress(OSError):  # another job was faster
                FileSystems.delete([path])
        return None
    return CachedInput(FileSystems.split(path)[0], about)


def cache_input(
    file: InputFile,
    folder: str,
    *,
    source: Source,
    rules: dict[str, Any],
    compressed: bool,
    max_dead_letters: int,
    watch: Callable[[int, Counter], None],
) -> CachedInput:
    """Reads an input file to its end, and writes the cached input.

    Args:
      file: the input.
      folder: to write.
      source: reads it.
      rules: the manifest's entry about source and program.
      compressed: whether to compress messages: half the bytes for an engine to move, for a tenth
        of the time.
      max_dead_letters: how many malformed lines are kept; all are counted.
      watch: called now and then with the stored bytes read so far and the counts since the last
        call.

    Raises:
      UnreadableFileError: if the file cannot be opened or is truncated or corrupt.
    """
    FileSystems.mkdirs(folder)
    tap = Tap()
    with ExitStack() as files:
        packer = partial(make_packer, source.layout, rules["subpartitions"])
        writer = _Writer(folder, files, compressed, max_dead_letters, packer)
        for batch in source.read(file, tap):
            watch(tap.size, writer.add(batch))
        writer.flush()
    about = {
        "input": file.describe(tap),
        "rules": rules,
        "counts": writer.counts,
        "malformed_reasons": writer.reasons,
        "dropped_examples": {
            source.rule_names[rule]: writer.examples[rule] for rule in writer.examples
        },
        "groups": sorted(writer.groups),
        "outputs": {
            name: {"bytes": file.size, "crc32c": file.crc32c} for name, file in writer.files.items()
        },
    }
    write_file(FileSystems.join(folder, MANIFEST), _with_checksum(about))
    return CachedInput(folder, about)


class _Writer:
    """Packs and counts the messages of one input file."""

    def __init__(
        self,
        folder: str,
        stack: ExitStack,
        compressed: bool,
        max_dead_letters: int,
        make_packer: Callable[[], Packer | WholePacker],
    ):
        self._messages = COMPRESSED if compressed else PLAIN
        self._max_dead_letters = max_dead_letters
        self.files = {
            name: stack.enter_context(NewFile(FileSystems.join(folder, name)))
            for name in (self._messages, INDEX, DEAD_LETTERS)
        }
        self.counts: Counter = Counter(lines=0, malformed=0)
        self.reasons: Counter = Counter()
        self.examples: dict[int, list[str]] = {}
        """Index of the rule -> starts of the first texts that it dropped."""
        self.groups: frozenset[str] = frozenset()
        self._dead_letters = 0
        self._make_packer = make_packer
        self._packer = make_packer()
        self._compress = Compressor() if compressed else None

    def add(self, batch: MessageBatch) -> Counter:
        """Adds a batch; returns its `lines` and `malformed`."""
        for line in batch.malformed:
            self._add_dead_letter(line)
        self._keep_examples(batch.messages)
        self.groups |= batch.groups
        self._packer.add(batch.messages)
        packer = self._packer
        if packer.messages >= MESSAGES_A_PACK or packer.bytes >= BYTES_A_PACK:
            self.flush()
        counts = Counter(lines=batch.lines, malformed=len(batch.malformed))
        self.counts.update(counts)
        return counts

    def _keep_examples(self, messages: pa.RecordBatch) -> None:
        rules = messages.column("dropped_by")
        texts = messages.column("text")
        for rule in pc.unique(rules.drop_null()).to_pylist():
            examples = self.examples.setdefault(rule, [])
            if len(examples) < EXAMPLES:
                found = pc.indices_nonzero(pc.equal(rules, rule))[: EXAMPLES - len(examples)]
                examples += [text[:KEPT_OF_TOO_LONG] for text in texts.take(found).to_pylist()]

    def _add_dead_letter(self, line: MalformedLine) -> None:
        # Without what follows, a value or where the JSON ended, or there are as many as lines.
        reason = line.reason.partition(":")[0]
        is_one_more = reason not in self.reasons and len(self.reasons) >= MOST_REASONS
        self.reasons[OTHER_REASONS if is_one_more else reason] += 1
        if self._dead_letters == self._max_dead_letters:
            self.counts[DROPPED_LETTERS] += 1
            return
        self._dead_letters += 1
        self.files[DEAD_LETTERS].write(line.as_dead_letter())

    def flush(self) -> None:
        """Writes the packed messages."""
        chunks = np.zeros(self._packer.subpartitions, CHUNK)
        waiting: list[Rows] = []
        for subpartition, rows in self._packer.packed():
            frames = [self._compress(rows)] if self._compress else rows
            size, checksum = sum(map(len, frames)), reduce(google_crc32c.extend, frames, 0)
            chunks[subpartition] = size, checksum
            waiting += frames
            if sum(map(len, waiting)) >= _WRITE_BYTES:
                self._write(waiting)
                waiting = []
        self._write(waiting)
        self.files[INDEX].write(chunks.tobytes())
        self._packer = self._make_packer()

    def _write(self, frames: list[Rows]) -> None:
        if max(map(len, frames), default=0) >= _WRITE_BYTES:
            for frame in frames:  # without another copy
                self.files[self._messages].write(frame)
        else:
            self.files[self._messages].write(b"".join(frames))

"""One reading of a dump, as it is kept: its files and its manifest, read back and checked."""

import logging
import re
from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress
from itertools import pairwise
from pathlib import PurePath
from typing import Any, NamedTuple

import google_crc32c
import numpy as np
from apache_beam.io.filesystems import FileSystems

from data_pipeline.execution.blocks import PART, Block, DamagedFileError
from data_pipeline.files.inputs import Dump
from data_pipeline.files.manifests import INPUT, Each, parse_manifest
from data_pipeline.files.output_folder import (
    as_json,
    open_stored,
    read_bytes,
    write_file,
)
from data_pipeline.reddit.join import SLOTS, bucket_of_slot

_LOG = logging.getLogger(__name__)
LEFT_OUT = "dead_letters_left_out"
"""Among the counts of a month: malformed lines that are not among its dead letters."""
PLAIN = "comments.jsonl"
COMPRESSED = "comments.jsonl.zst"
INDEX = "slots.index"
DEAD_LETTERS = "dead_letters.jsonl"
MANIFEST = "month.json"
FILES = (PLAIN, INDEX, DEAD_LETTERS, MANIFEST)
"""How the names of a reading's files begin, compressed or half written too."""
_SEAL = "checksum"
_OUTPUTS = [{comments, INDEX, DEAD_LETTERS} for comments in (PLAIN, COMPRESSED)]
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
READING = re.compile(r".+-[0-9a-f]{8}-[0-9a-f]{32}")


class CachedInput(NamedTuple):
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
                write_file(FileSystems.join(self.folder, MANIFEST), sealed(self.about))

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


def sealed(about: dict[str, Any]) -> bytes:
    """What `month.json` holds: the manifest, with a checksum of the rest of it."""
    rest = {name: value for name, value in about.items() if name != _SEAL}
    return as_json(rest | {_SEAL: f"{google_crc32c.value(as_json(rest)):08x}"})


def read_manifest(path: str) -> CachedInput | None:
    """The reading that a `month.json` describes; a damaged one is removed, with a warning."""
    try:
        about = parse_manifest(read_bytes(path), _SHAPE)
        if about["outputs"].keys() not in _OUTPUTS:
            raise ValueError("'outputs' does not list its files")
        if sealed(about) != as_json(about):
            raise ValueError("its checksum has changed")
    except ValueError as error:  # a machine that lost its power can leave it without contents
        _LOG.warning("warning: %s is damaged (%s); its dump is read again", path, error)
        if READING.fullmatch(PurePath(path).parent.name):
            with suppress(OSError):  # another job was faster
                FileSystems.delete([path])
        return None
    return CachedInput(FileSystems.split(path)[0], about)


def blocks_by_bucket(
    month: CachedInput, *, position: int, buckets: int, at_hand: bool
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
    compressed = COMPRESSED in month.about["outputs"]
    path = FileSystems.join(month.folder, COMPRESSED if compressed else PLAIN)
    first_slots = np.searchsorted(
        [bucket_of_slot(slot, buckets) for slot in range(SLOTS)], np.arange(buckets + 1)
    )
    index = np.frombuffer(month.checked(INDEX), PART)
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


def dead_letters(month: CachedInput) -> Iterator[bytes]:
    """The dead letters of a month, one JSON object a line, read as they are asked for.

    Raises:
      DamagedFileError: at their end, if they are not what was written.
    """
    path = FileSystems.join(month.folder, DEAD_LETTERS)
    checksum = google_crc32c.Checksum()
    with closing(open_stored(path)) as stream:
        for line in stream:
            checksum.update(line)
            yield line
    if checksum.hexdigest().decode() != month.about["outputs"][DEAD_LETTERS]["crc32c"]:
        raise DamagedFileError(path)

"""Large files in parts, so that several processes read one file.

Plain text is cut anywhere, since a reader finds the next line by itself (`lines.read_chunks`). A
Zstandard file is cut between frames, if it has several: pzstd, t2sz and `cat a.zst b.zst` write
such files, while zstd writes one frame, with any number of threads. The parts depend on the file
alone, so that jobs on different machines can share a cache. (Where there is none, `shares` cuts
frames too.)
"""

import mmap
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path, PurePath
from typing import NamedTuple

import numpy as np

from data_pipeline.storage.filesystem import is_remote
from data_pipeline.storage.inputs import InputFile
from data_pipeline.storage.lines import is_compressed

PLAIN_BYTES = 128 << 20
"""Of a part of plain text, at most: some 200,000 comments."""
ZSTD_BYTES = 32 << 20
"""Of a part of a Zstandard file, and a frame more: some 400,000 comments."""
LONGEST_FRAME = 256 << 20
"""A file with a longer frame is not looked through to its end: it most likely has only one."""
ZSTD = ".zst"
_MAGIC = 0xFD2FB528
_SKIPPABLE = range(0x184D2A50, 0x184D2A60)
_DICTIONARY_BYTES = (0, 1, 2, 4)
_CONTENT_SIZE_BYTES = (0, 2, 4, 8)
_HEADER_BYTES = 18
"""Of the longest header of a frame."""
_RUN, _RESERVED = 1, 3
"""Types of blocks: one byte that is repeated; none."""


class Parts(NamedTuple):
    """How a file is read."""

    files: list[InputFile]
    """Its parts in reading order; the file itself if it is read as a whole."""
    why_whole: str = ""
    """Why a large file is read as a whole."""
    by_line: bool = True
    """Whether reading can begin at any line."""


def parts_of(file: InputFile) -> Parts:
    """Cuts a file into parts, if it is large and its format allows it."""
    suffix = PurePath(file.path).suffix.lower()
    if not is_compressed(file):
        return _cut(file, _evenly(file.size, PLAIN_BYTES))
    wanted = _evenly(file.size, ZSTD_BYTES)
    if len(wanted) == 1:
        return Parts([file])
    if suffix != ZSTD:
        return Parts([file], f"a {suffix} file can be read only from its start")
    if is_remote(file.path):
        return Parts([file], "the frames of a file that is not local are not looked for")
    starts = np.fromiter(frame_starts(file.path), np.int64)
    places = np.searchsorted(starts, wanted)
    parts = _cut(file, np.unique(starts[places[places < len(starts)]]).tolist())
    if len(parts.files) == 1:
        return Parts([file], "it is one Zstandard frame, or its frames are too long")
    return parts


def _evenly(size: int, most: int) -> list[int]:
    """Where equal parts of at most `most` bytes start."""
    parts = max(1, -(-size // most))
    return [part * size // parts for part in range(parts)]


def _cut(file: InputFile, starts: list[int]) -> Parts:
    if len(starts) < 2:
        return Parts([file])
    ends = [*starts[1:], file.size]
    return Parts(
        [file._replace(start=start, end=end) for start, end in zip(starts, ends, strict=True)]
    )


def frame_starts(path: str) -> Iterator[int]:
    """Where the frames of a local Zstandard file start, as RFC 8878 lays them out.

    Nothing is decompressed. It stops where a frame is longer than `LONGEST_FRAME`, cut off or
    damaged; whoever reads it finds out what is wrong.
    """
    with Path(path).open("rb") as stream:
        if not Path(path).stat().st_size:
            return
        with mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as content:
            start: int | None = 0
            while start is not None and start < len(content):
                yield start
                start = _frame_end(content, start)


def window_bytes(path: str) -> int:
    """How much a process keeps of what it has decompressed of a local Zstandard file.

    That of the first frame; 0 where there is none or the file cannot be read, which whoever reads
    it finds out.
    """
    with suppress(OSError), Path(path).open("rb") as stream:
        while content := stream.read(_HEADER_BYTES):
            if header := _Header.of(content, 0):
                return header.window
            if _number(content, 0, 4) not in _SKIPPABLE:
                break
            stream.seek(8 + _number(content, 4, 4) - len(content), os.SEEK_CUR)
    return 0


class _Header(NamedTuple):
    """The header of a frame, RFC 8878, section 3.1.1.1."""

    size: int
    window: int
    has_checksum: bool

    @classmethod
    def of(cls, content: bytes | mmap.mmap, start: int) -> "_Header | None":
        """The header of the frame that starts here; None if none does."""
        if _number(content, start, 4) != _MAGIC:
            return None
        descriptor = _number(content, start + 4, 1)
        one_segment = descriptor >> 5 & 1
        place = start + 5
        exponent, mantissa = divmod(_number(content, place, 1), 8)
        window = (8 + mantissa << 10 + exponent) // 8
        place += (not one_segment) + _DICTIONARY_BYTES[descriptor & 3]
        size = _CONTENT_SIZE_BYTES[descriptor >> 6] or one_segment
        if one_segment:
            window = _number(content, place, size) + 256 * (size == 2)
        return cls(place + size - start, window, bool(descriptor >> 2 & 1))


def _frame_end(content: mmap.mmap, start: int) -> int | None:
    """The end of the frame that starts here; None if it is too long or no whole frame."""
    if _number(content, start, 4) in _SKIPPABLE:
        return start + 8 + _number(content, start + 4, 4)
    header = _Header.of(content, start)
    if header is None:
        return None
    place = start + header.size
    is_last = False
    while not is_last:
        if place - start > LONGEST_FRAME or place + 3 > len(content):
            return None
        block = _number(content, place, 3)
        is_last, kind = bool(block & 1), block >> 1 & 3
        if kind == _RESERVED:
            return None
        place += 3 + (1 if kind == _RUN else block >> 3)
    return place + 4 * header.has_checksum


def _number(content: bytes | mmap.mmap, place: int, size: int) -> int:
    return int.from_bytes(content[place : place + size], "little")

"""Large files in parts, so that several processes read one file.

Plain text is cut anywhere, since a reader finds the next line by itself (`lines.read_chunks`). A
Zstandard file is cut between frames, if it has several: pzstd, t2sz and `cat a.zst b.zst` write
such files, while zstd writes one frame, with any number of threads (`shares` cuts frames, too).
"""

import mmap
from collections.abc import Iterator
from pathlib import Path, PurePath
from typing import NamedTuple

import numpy as np
from backports import zstd

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
_MAGIC = b"\x28\xb5\x2f\xfd"
_HEADER_BYTES = 18
"""Of the longest header of a frame."""


class Parts(NamedTuple):
    """How a file is read."""

    files: list[InputFile]
    """Its parts in reading order; the file itself if it is read as a whole."""
    by_line: bool = True
    """Whether reading can begin at any line."""


def parts_of(file: InputFile) -> Parts:
    """Cuts a file into parts, if it is large and its format allows it."""
    if not is_compressed(file):
        return _cut(file, _evenly(file.size, PLAIN_BYTES))
    wanted = _evenly(file.size, ZSTD_BYTES)
    # Only a local file is looked through for frames.
    if len(wanted) == 1 or PurePath(file.path).suffix.lower() != ZSTD or is_remote(file.path):
        return Parts([file])
    starts = np.fromiter(frame_starts(file.path), np.int64)
    positions = np.searchsorted(starts, wanted)
    return _cut(file, np.unique(starts[positions[positions < len(starts)]]).tolist())


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
    """Where the frames of a local Zstandard file start; nothing is decompressed.

    It stops where a frame is longer than `LONGEST_FRAME`, cut off or damaged; whoever reads it
    finds out what is wrong.
    """
    if not Path(path).stat().st_size:
        return
    with (
        Path(path).open("rb") as stream,
        mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as mapped,
        memoryview(mapped) as content,
    ):
        start = 0
        while start < len(content):
            yield start
            with content[start : start + LONGEST_FRAME] as rest:
                try:
                    start += zstd.get_frame_size(rest)
                except zstd.ZstdError:
                    return


def window_bytes(path: str) -> int:
    """How much a process keeps of what it has decompressed of a local Zstandard file.

    That of the first frame by its header (RFC 8878, section 3.1.1.1); 0 where there is none.
    """
    with Path(path).open("rb") as stream:
        header = stream.read(_HEADER_BYTES)
    if not header.startswith(_MAGIC) or len(header) < 6:
        return 0
    if header[4] >> 5 & 1:  # the window is the whole content
        return zstd.get_frame_info(header).decompressed_size or 0
    exponent, mantissa = divmod(header[5], 8)
    return (8 + mantissa << 10 + exponent) // 8

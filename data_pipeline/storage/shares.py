"""Which worker reads which files and parts of files.

Plain text is cut anywhere, since a reader finds the next line by itself (`lines.read_chunks`).
Other files are read by one worker each, but for Zstandard files on this machine: Beam's local
runner deals out all work before it begins, and a worker that is done takes over nothing of
another's. So those are cut where a worker has enough to do. Whoever reads a later piece of a file
decompresses what comes before it and leaves it out, which is cheap (`SKIPPING`).
"""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from pathlib import Path

from backports import zstd

from data_pipeline.storage.filesystem import is_remote
from data_pipeline.storage.inputs import InputFile
from data_pipeline.storage.lines import is_compressed

PLAIN_BYTES = 128 << 20
"""Of a part of plain text, at most: some 200,000 comments."""
SKIPPING = 0.12
"""The cost of leaving out a stored byte, relative to reading it: 0.28 of 2.36 microseconds a
comment."""
LEAST_BYTES = 4 << 20
"""Of a piece of a Zstandard file: about 40,000 comments."""

Shares = list[list[InputFile]]
"""The files and parts that each worker reads."""


def share_out(by_line: Mapping[InputFile, bool], *, workers: int, memory: int) -> Shares:
    """Deals out files, some of them in parts.

    Args:
      by_line: each input file, and whether reading it can begin at any line.
      workers: processes of this machine that read at the same time, so that each has about as much
        to do; 0 for an engine, which deals out the files and parts itself.
      memory: bytes that the windows of one file may take in all processes, or it is not cut. Each
        keeps what it decompressed last: 8 MB, 2 GiB in files written with `--long=31`.

    Returns:
      As many shares as workers; on an engine one for each file or part.
    """
    parts = [part for file, may_cut in by_line.items() for part in _parts_of(file, may_cut)]
    if workers < 2:
        return [[part] for part in parts]
    parts.sort(key=lambda part: -part.stored_bytes)
    # What is skipped of a remote file would be transferred too.
    zstandard = (file for file in parts if by_line.get(file) and file.path.lower().endswith(".zst"))
    to_cut = [
        file
        for file in zstandard
        if file.size >= 2 * LEAST_BYTES and not is_remote(file.path)
        if workers * window_bytes(file.path) <= memory
    ]
    whole = _dealt(parts, workers)
    others = _dealt([part for part in parts if part not in to_cut], workers)
    # The least that a worker must read so that nothing is left.
    level = bisect_left(
        range(sum(part.stored_bytes for part in parts)),
        True,
        key=lambda level: _filled_up(others, to_cut, level) is not None,
    )
    cut = _filled_up(others, to_cut, level) or whole
    return min(whole, cut, key=lambda shares: max(map(_work, shares)))


def _parts_of(file: InputFile, may_cut: bool) -> list[InputFile]:
    """Plain text in equal parts of at most `PLAIN_BYTES`; other files whole."""
    number = -(-file.size // PLAIN_BYTES)
    if number < 2 or not may_cut or is_compressed(file):
        return [file]
    ends = [part * file.size // number for part in range(number + 1)]
    return [file._replace(start=ends[part], end=ends[part + 1]) for part in range(number)]


def _work(share: Sequence[InputFile]) -> float:
    """What reading some files and pieces costs, in stored bytes."""
    return sum(part.stored_bytes + SKIPPING * part.start * is_compressed(part) for part in share)


def _dealt(parts: Sequence[InputFile], workers: int) -> Shares:
    """Gives each file or part to the worker with least to do."""
    shares: Shares = [[] for _ in range(workers)]
    for part in parts:
        min(shares, key=_work).append(part)
    return shares


def _filled_up(shares: Shares, files: Sequence[InputFile], level: float) -> Shares | None:
    """Adds pieces of the files to one share after the other, up to a level of work.

    Returns:
      None if that does not take all of the files.
    """
    shares = [list(share) for share in shares]
    loads = list(map(_work, shares))
    worker = 0
    for file in files:
        start = 0
        while start < file.size:
            if worker == len(shares):
                return None
            rest, room = file.size - start, int(level - loads[worker] - SKIPPING * start)
            if rest > room:
                room = min(room, rest - LEAST_BYTES)
                if room < LEAST_BYTES:
                    worker += 1
                    continue
            size = min(rest, room)
            piece = file._replace(start=start, end=start + size)
            shares[worker].append(file if size == file.size else piece)
            loads[worker] += SKIPPING * start + size
            start += size
            worker += size < rest
    return shares


def window_bytes(path: str) -> int:
    """How much a process keeps of what it has decompressed of a local Zstandard file.

    That of the first frame, by its header (RFC 8878, section 3.1.1.1); 0 where there is none.
    """
    with Path(path).open("rb") as stream:
        header = stream.read(18)  # of the longest
    try:
        size = zstd.get_frame_info(header).decompressed_size
    except zstd.ZstdError:  # whoever reads the file names it
        return 0
    if header[4] >> 5 & 1:  # the window is the whole content
        return size or 0
    exponent, mantissa = divmod(header[5], 8)
    return (8 + mantissa << 10 + exponent) // 8

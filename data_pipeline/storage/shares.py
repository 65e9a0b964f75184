"""Which worker reads which files, where the job runs on this machine.

Beam's local runner deals out all work before it begins; a worker that is done takes over nothing
of another's. So files are dealt out here, by their stored bytes, the largest first, each to the
worker with least to do: first those that only one process can read, then Zstandard files. Of these,
the ones for which no worker has room are cut, and fill up what is left. Whoever reads a later piece
of a file decompresses what comes before it and leaves it out, which is cheap (`SKIPPING`).
"""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from pathlib import PurePath

from data_pipeline.storage.filesystem import is_remote
from data_pipeline.storage.inputs import InputFile
from data_pipeline.storage.parts import ZSTD, Parts, window_bytes

SKIPPING = 0.12
"""The cost of leaving out a stored byte, relative to reading it: 0.28 of 2.36 microseconds a
comment."""
LEAST_BYTES = 4 << 20
"""Of a piece: about 40,000 comments."""

Shares = list[list[InputFile]]
"""The files and parts that each worker reads."""


def share_out(files: Mapping[InputFile, Parts], *, workers: int, memory: int) -> Shares:
    """Deals out files, some of them in pieces, so that all workers have about as much to do.

    Args:
      files: each input file and its parts.
      workers: processes that read at the same time.
      memory: bytes that the windows of one file may take in all processes that read pieces of it.
        Each keeps what it decompressed last: 8 MB, 2 GiB in files written with `--long=31`.

    Returns:
      As many shares as workers.
    """
    most_pieces = {
        file: memory // max(window_bytes(file.path), 1)
        for file, its in files.items()
        if _can_be_cut(file, its)
    }
    can_be_cut = {file: most for file, most in most_pieces.items() if most > 1}
    parts = [part for file in files for part in files[file].files]
    parts.sort(key=lambda part: -part.stored_bytes)
    whole = _dealt(parts, {}, workers, 0)
    parts.sort(key=lambda part: part in can_be_cut)
    # The least that a worker must read so that nothing is left.
    level = bisect_left(
        range(sum(part.stored_bytes for part in parts)),
        True,
        key=lambda level: _dealt(parts, can_be_cut, workers, level) is not None,
    )
    cut = _dealt(parts, can_be_cut, workers, level)
    assert whole is not None
    assert cut is not None
    return min(whole, cut, key=_longest)


def _can_be_cut(file: InputFile, parts: Parts) -> bool:
    is_whole = parts.by_line and len(parts.files) == 1
    is_zstd = PurePath(file.path).suffix.lower() == ZSTD
    # What is skipped of a remote file would be transferred too.
    return is_whole and is_zstd and not is_remote(file.path) and file.size >= 2 * LEAST_BYTES


def _longest(shares: Shares) -> float:
    return max(
        sum(part.stored_bytes + SKIPPING * part.start * part.in_frame for part in share)
        for share in shares
    )


def _dealt(
    parts: Sequence[InputFile], most_pieces: Mapping[InputFile, int], workers: int, level: float
) -> Shares | None:
    """Gives each worker work up to a level, beyond which only what cannot be cut goes.

    Args:
      parts: in the order in which they are dealt out.
      most_pieces: of those that can be cut.
      workers: at least 1.
      level: stored bytes.

    Returns:
      None if something is left.
    """
    shares: Shares = [[] for _ in range(workers)]
    loads = [0.0] * workers
    to_cut = []
    for part in parts:
        worker = loads.index(min(loads))
        if part in most_pieces and loads[worker] + part.stored_bytes > level:
            to_cut.append(part)
        else:
            shares[worker].append(part)
            loads[worker] += part.stored_bytes
    return shares if _cut(to_cut, most_pieces, shares, loads, level) else None


def _cut(
    files: Sequence[InputFile],
    most_pieces: Mapping[InputFile, int],
    shares: Shares,
    loads: list[float],
    level: float,
) -> bool:
    """Fills up one worker after the other with pieces; whether that takes all of the files."""
    worker = 0
    for file in files:
        start, pieces = 0, 1
        while start < file.size:
            if worker == len(shares):
                return False
            rest, room = file.size - start, int(level - loads[worker] - SKIPPING * start)
            if rest <= room:
                shares[worker].append(_piece(file, start, file.size))
                loads[worker] += SKIPPING * start + rest
                break
            room = min(room, rest - LEAST_BYTES)
            if room >= LEAST_BYTES and pieces < most_pieces[file]:
                shares[worker].append(_piece(file, start, start + room))
                start, pieces = start + room, pieces + 1
            worker += 1
    return True


def _piece(file: InputFile, start: int, end: int) -> InputFile:
    if end - start == file.size:
        return file
    return file._replace(start=start, end=end, in_frame=True)

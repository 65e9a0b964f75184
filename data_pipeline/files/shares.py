"""Which worker reads which files, where the job runs on this machine.

Beam's local runner deals out all work before it begins; a worker that is done takes over nothing
of another's. So files are dealt out here, by their stored bytes, the largest first, each to the
worker with least to do: first those that only one process can read, then Zstandard files. Of these,
the ones for which no worker has room are cut, and fill up what is left. Whoever reads a later piece
of a file decompresses what comes before it and leaves it out, which is cheap (`SKIPPING`).
"""

from bisect import bisect_left
from collections.abc import Collection, Mapping, Sequence
from pathlib import PurePath

from data_pipeline.files.filesystem import is_remote
from data_pipeline.files.inputs import InputFile
from data_pipeline.files.parts import ZSTD, Parts, window_bytes

SKIPPING = 0.12
"""The time for a stored byte that is decompressed and left out, of that for one that is read: 0.28
of 2.36 microseconds a comment."""
LEAST_BYTES = 4 << 20
"""Of a piece: 40,000 comments."""

Shares = list[list[InputFile]]
"""The files and parts that each worker reads."""


def share_out(files: Mapping[InputFile, Parts], *, workers: int, memory: int) -> Shares:
    """Deals out files, some of them in pieces, so that all workers have about as much to do.

    Args:
      files: each input file and its parts.
      workers: processes that read at the same time.
      memory: bytes that they may take for the windows of files that are cut. Each process that
        decompresses a file keeps its last bytes: 8 MB, 2 GiB in files written with `--long=31`.

    Returns:
      As many shares as workers.
    """
    can_be_cut = {
        file
        for file, its in files.items()
        if _can_be_cut(file, its) and workers * window_bytes(file.path) <= memory
    }
    parts = [part for file in files for part in files[file].files]
    parts.sort(key=lambda part: (part in can_be_cut, -part.stored_bytes))
    most = sum(part.stored_bytes for part in parts)
    # The least that a worker must read so that nothing is left.
    level = bisect_left(
        range(most), True, key=lambda level: _dealt(parts, can_be_cut, workers, level) is not None
    )
    shares = _dealt(parts, can_be_cut, workers, level)
    assert shares is not None
    return shares


def _can_be_cut(file: InputFile, parts: Parts) -> bool:
    # What is skipped of a remote file would be transferred too.
    is_zstd = PurePath(file.path).suffix.lower() == ZSTD
    return parts.by_line and len(parts.files) == 1 and is_zstd and not is_remote(file.path)


def _dealt(
    parts: Sequence[InputFile], can_be_cut: Collection[InputFile], workers: int, level: float
) -> Shares | None:
    """Gives each worker work up to a level, beyond which only what cannot be cut goes.

    Returns:
      None if something is left.
    """
    shares: Shares = [[] for _ in range(workers)]
    loads = [0.0] * workers
    to_cut = []
    for part in parts:
        worker = loads.index(min(loads))
        if part in can_be_cut and loads[worker] + part.stored_bytes > level:
            to_cut.append(part)
        else:
            shares[worker].append(part)
            loads[worker] += part.stored_bytes
    worker = 0
    for file in to_cut:
        start = 0
        while start < file.size:
            if worker == workers:
                return None
            rest, room = file.size - start, int(level - loads[worker] - SKIPPING * start)
            if rest <= room:
                shares[worker].append(_piece(file, start, file.size))
                loads[worker] += SKIPPING * start + rest
                break
            room = min(room, rest - LEAST_BYTES)
            if room >= LEAST_BYTES:
                shares[worker].append(_piece(file, start, start + room))
                start += room
            worker += 1
    return shares


def _piece(file: InputFile, start: int, end: int) -> InputFile:
    if end - start == file.size:
        return file
    return file._replace(start=start, end=end, in_frame=True)

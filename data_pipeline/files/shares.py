"""Which worker reads which files, where the job runs on this machine.

Beam's local runner deals out all work before it begins; a worker that is done takes over nothing
of another's. So files are dealt out here, by their stored bytes. Those that only one process can
read come first, the largest first, each to the worker with least to do. Zstandard files fill up
what is left: each is cut where a worker has its share. Whoever reads a later piece of a file
decompresses what comes before it and leaves it out, which is cheap (`SKIPPING`).
"""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
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
    can_be_cut = [
        file
        for file, parts in files.items()
        if _can_be_cut(file, parts) and workers * window_bytes(file.path) <= memory
    ]
    shares: Shares = [[] for _ in range(workers)]
    loads = [0.0] * workers
    for part in sorted(
        (part for file in files if file not in can_be_cut for part in files[file].files),
        key=lambda part: -part.stored_bytes,
    ):
        worker = loads.index(min(loads))
        shares[worker].append(part)
        loads[worker] += part.stored_bytes
    can_be_cut.sort(key=lambda file: -file.size)
    most = int(max(loads)) + sum(file.size for file in can_be_cut)
    level = bisect_left(
        range(most), True, key=lambda level: _poured(can_be_cut, loads, level) is not None
    )
    pieces = _poured(can_be_cut, loads, level)
    assert pieces is not None
    return [share + its for share, its in zip(shares, pieces, strict=True)]


def _can_be_cut(file: InputFile, parts: Parts) -> bool:
    # What is skipped of a remote file would be transferred too.
    is_zstd = PurePath(file.path).suffix.lower() == ZSTD
    return parts.by_line and len(parts.files) == 1 and is_zstd and not is_remote(file.path)


def _poured(files: Sequence[InputFile], loads: Sequence[float], level: float) -> Shares | None:
    """Fills each worker up to a level with files, cut where it is full; None if some is left."""
    shares: Shares = [[] for _ in loads]
    worker, load = 0, loads[0]
    for file in files:
        start = 0
        while start < file.size:
            rest, room = file.size - start, int(level - load - SKIPPING * start)
            if rest <= room:
                shares[worker].append(_piece(file, start, file.size))
                load += SKIPPING * start + rest
                break
            room = min(room, rest - LEAST_BYTES)
            if room >= LEAST_BYTES:
                shares[worker].append(_piece(file, start, start + room))
                start += room
            worker += 1
            if worker == len(loads):
                return None
            load = loads[worker]
    return shares


def _piece(file: InputFile, start: int, end: int) -> InputFile:
    if end - start == file.size:
        return file
    return file._replace(start=start, end=end, in_frame=True)

"""A progress bar on any runner: workers write notes, the launcher reads them.

Beam's local runner says nothing until it is done, and every engine reports in its own way. So a
worker writes now and then how far it is with a piece of work into a small file, and the launcher
adds them up: stored bytes read, then partitions joined.
"""

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, TextIO

from apache_beam.io.filesystems import FileSystems
from tqdm import tqdm

from data_pipeline.storage.filesystem import files_like, read_bytes, write_object

READING = "read"
JOINING = "join"
_SECONDS_BETWEEN_NOTES = 1.0
_SECONDS_BETWEEN_LINES = 10.0
"""Where the output is not a terminal, such as in a log, the bar is printed this often."""


class Note:
    """One worker's note of one piece of work."""

    def __init__(self, folder: str, kind: str, name: str):
        self._path = FileSystems.join(folder, f"{kind}-{name}")
        self._written = 0.0

    def write(self, done: int, *, finished: bool = False) -> None:
        """Writes how far the work is, unless the last note is less than a second old."""
        now = time.monotonic()
        if finished or now - self._written > _SECONDS_BETWEEN_NOTES:
            self._written = now
            write_object(self._path, str(done).encode())


def work_done(folder: str, kind: str) -> int:
    """The sum of all notes of one kind."""
    done = 0
    for file in files_like(folder, f"{kind}-*"):
        with suppress(OSError, ValueError):  # being written at this moment
            done += int(read_bytes(file.path))
    return done


Stage = tuple[str, int, str]  # the kind of a stage's notes, their sum at its end, and its unit


@contextmanager
def shown_progress(folder: str, stages: Sequence[Stage], *, stream: TextIO) -> Iterator[None]:
    """Shows the notes in the folder while the job runs, stage by stage."""
    is_over = threading.Event()
    seconds = 1.0 if stream.isatty() else _SECONDS_BETWEEN_LINES

    def watch() -> None:
        for kind, total, unit in stages:
            settings: dict[str, Any] = {"unit": unit, "unit_scale": True, "mininterval": 0}
            with tqdm(desc=kind, total=total, file=stream, **settings) as bar:
                while bar.n < total:
                    is_last = is_over.wait(seconds)
                    bar.update(work_done(folder, kind) - bar.n)
                    if is_last:
                        break

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        is_over.set()
        watcher.join()

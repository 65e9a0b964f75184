"""A progress bar on any runner: workers write notes, the launcher reads them.

Beam's local runner says nothing until it is done, and every engine reports in its own way. So a
worker writes now and then how far it is with a piece of work into a small file, and the launcher
adds them up: stored bytes read, partitions joined.
"""

import io
import json
import threading
import time
from types import TracebackType
from typing import Self, TextIO

from apache_beam.io.filesystem import FileMetadata
from apache_beam.io.filesystems import FileSystems
from tqdm import tqdm

from data_pipeline.storage.filesystem import files_like, read_bytes, write_object

SECONDS_BETWEEN_NOTES = 1.0
_SECONDS_BETWEEN_LINES = 10.0
"""Where the output is not a terminal, such as in a log, the bar is printed this often."""
READING = "read"
JOINING = "join"


class Note:
    """One worker's note of one piece of work."""

    def __init__(self, folder: str, kind: str, name: str):
        self._path = FileSystems.join(folder, f"{kind}-{name}")
        self._written = 0.0

    def write(self, *, done: int, lines: int = 0, finished: bool = False) -> None:
        """Writes how far the work is, unless the last note is less than a second old."""
        now = time.monotonic()
        if finished or now - self._written > SECONDS_BETWEEN_NOTES:
            self._written = now
            write_object(self._path, json.dumps([done, lines]).encode())


class Watch:
    """Shows the notes as a bar while the job runs: `with Watch(...): ...`."""

    def __init__(self, folder: str, *, stored_bytes: int, partitions: int, stream: TextIO):
        self._folder = folder
        self._stream = stream
        self._totals = {READING: stored_bytes, JOINING: partitions}
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._is_terminal = stream.isatty()
        self._bar: tqdm | None = None
        self._kind = ""
        self._began = time.time()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, error: type[BaseException] | None, value: object, traceback: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join()
        if error is None:
            # Partitions without a comment leave no note.
            self._draw(JOINING, self._totals[JOINING], "")
        if self._bar is not None:
            self._bar.close()

    def _watch(self) -> None:
        interval = 1.0 if self._is_terminal else _SECONDS_BETWEEN_LINES
        while not self._stop.wait(interval):
            self._show()

    def _show(self) -> None:
        done, lines = self._add_up(READING)
        if done < self._totals[READING]:
            rate = lines / (time.time() - self._began)
            self._draw(READING, done, f"{lines:,} lines, {rate:,.0f} comments/s")
        else:
            self._draw(JOINING, self._add_up(JOINING)[0], "")

    def _add_up(self, kind: str) -> tuple[int, int]:
        """Work done and lines read, over all notes of one kind."""
        done = lines = 0
        for file in self._notes(kind):
            try:
                note = json.loads(read_bytes(file.path))
            except (OSError, ValueError):  # being written at this moment
                continue
            done, lines = done + note[0], lines + note[1]
        return done, lines

    def _began_at(self, kind: str) -> float:
        """When the work began, in seconds since 1970: the join begins when all files are read."""
        began = self._began
        if kind == JOINING:
            times = (file.last_updated_in_seconds or 0.0 for file in self._notes(READING))
            began = max([began, *times])
        return min(began, time.time())

    def _notes(self, kind: str) -> list[FileMetadata]:
        return files_like(self._folder, f"{kind}-*")

    def _draw(self, kind: str, done: int, more: str) -> None:
        if kind != self._kind:
            if self._bar is not None:
                self._bar.close()
            self._kind = kind
            self._bar = tqdm(
                desc={READING: "reading dumps", JOINING: "joining replies to parents"}[kind],
                total=self._totals[kind],
                unit="B" if kind == READING else " partitions",
                unit_scale=kind == READING,
                smoothing=0,  # show the mean rate
                mininterval=float("inf"),  # only `refresh` draws
                file=self._stream if self._is_terminal else io.StringIO(),
            )
            self._bar.start_t = self._began_at(kind)
        assert self._bar is not None
        self._bar.set_postfix_str(more, refresh=False)
        self._bar.update(done - self._bar.n)
        if self._is_terminal:
            self._bar.refresh()
        else:
            print(self._bar, file=self._stream, flush=True)

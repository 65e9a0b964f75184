"""A progress bar on any runner: workers write notes, the launcher reads them.

Beam's local runner says nothing until it is done, and every engine reports in its own way. So a
worker writes now and then how far it is with a piece of work into a small file, and the launcher
adds them up: stored bytes read, partitions joined.
"""

import json
import threading
import time
from types import TracebackType
from typing import Any, Self, TextIO

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

    def write(self, *, done: int, lines: int = 0, finished: bool = False) -> None:
        """Writes how far the work is, unless the last note is less than a second old."""
        now = time.monotonic()
        if finished or now - self._written > _SECONDS_BETWEEN_NOTES:
            self._written = now
            write_object(self._path, json.dumps([done, lines]).encode())


class Watch:
    """Shows the notes while the job runs: `with Watch(...): ...`."""

    def __init__(self, folder: str, *, stored_bytes: int, partitions: int, stream: TextIO):
        self._folder = folder
        self._stored_bytes = stored_bytes
        self._partitions = partitions
        self._is_terminal = stream.isatty()
        self._stream = stream
        self._began = time.time()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, error: type[BaseException] | None, value: object, traceback: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join()
        if error is None:
            self._show(f"done in {tqdm.format_interval(time.time() - self._began)}")
        if self._is_terminal:
            self._stream.write("\n")

    def _watch(self) -> None:
        while not self._stop.wait(1.0 if self._is_terminal else _SECONDS_BETWEEN_LINES):
            self._show(self.state())

    def state(self) -> str:
        """How far the job is, in a line."""
        seconds = time.time() - self._began
        done, lines = self._add_up(READING)
        if done < self._stored_bytes:
            more = f", {lines:,} lines, {lines / seconds:,.0f} a second"
            return f"reading {_bar(done, self._stored_bytes, seconds, 'B')}{more}"
        done, _ = self._add_up(JOINING)
        return f"joining {_bar(done, self._partitions, seconds, ' partitions')}"

    def _add_up(self, kind: str) -> tuple[int, int]:
        """Work done and lines read, over all notes of one kind."""
        done = lines = 0
        for file in files_like(self._folder, f"{kind}-*"):
            try:
                note = json.loads(read_bytes(file.path))
            except (OSError, ValueError):  # being written at this moment
                continue
            done, lines = done + note[0], lines + note[1]
        return done, lines

    def _show(self, line: str) -> None:
        self._stream.write(f"\r{line:100}" if self._is_terminal else f"{line}\n")
        self._stream.flush()


def _bar(done: int, total: int, seconds: float, unit: str) -> str:
    layout = "{l_bar}{bar}| {n_fmt}/{total_fmt}{unit}"
    settings: dict[str, Any] = {"ncols": 60, "unit": unit, "unit_scale": True}
    return tqdm.format_meter(done, total, seconds, bar_format=layout, **settings)

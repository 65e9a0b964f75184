"""Commands that run for this one, and locks that they hold with it."""

import contextlib
import fcntl
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

from evaluation.errors import InputError


@contextlib.contextmanager
def locked(path: Path) -> Iterator[int | None]:
    """Hold a lock that ends with the process and its commands; None where another holds it."""
    with path.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield None
        else:
            yield file.fileno()


class Running:
    """The commands that run now, so that they end with this one."""

    def __init__(self) -> None:
        self._processes: set[subprocess.Popen] = set()
        self._guard = threading.Lock()
        self._stopped = False

    def run(self, arguments: Sequence, *, folder: Path, lock: int) -> None:
        """Run `python -m ARGUMENTS`, its output into log.txt; InputError where it fails."""
        command = [sys.executable, "-m", *map(str, arguments)]
        log = folder / "log.txt"
        with log.open("a") as output:
            with self._guard:
                if self._stopped:
                    raise InputError("stopped")
                process = subprocess.Popen(
                    command, stdout=output, stderr=subprocess.STDOUT, pass_fds=[lock]
                )
                self._processes.add(process)
            status = process.wait()
            self._processes.discard(process)
        if status:
            said = log.read_text(errors="replace").replace("\r", "\n").split("\n")
            last = next((line.strip() for line in reversed(said) if line.strip()), "")
            raise InputError(f"{log}: python -m {arguments[0]} failed with status {status}: {last}")

    def stop(self) -> None:
        """Ask all commands to end; a training saves first."""
        with self._guard:
            self._stopped = True
            for process in self._processes:
                process.terminate()

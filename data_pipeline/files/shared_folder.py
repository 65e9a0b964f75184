"""A folder that any number of jobs use at once, and that one may tidy when it is alone.

Every job holds a shared lock on the file `_in_use` while it works; who removes something takes the
lock for itself first. The system lets go of the locks of a process that dies.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from data_pipeline.files.claim import NO_LOCKS

IN_USE = "_in_use"


class SharedFolder:
    """A folder on a file system."""

    def __init__(self, path: str):
        self._path = Path(path)
        self._file = self._path / IN_USE

    @contextmanager
    def used(self) -> Iterator[None]:
        """Keeps others from being alone in the folder, which is made if it is not there."""
        with self._open() as lock:
            _lock(lock, fcntl.LOCK_SH)
            yield

    @contextmanager
    def alone(self) -> Iterator[bool]:
        """Keeps all others out; yields whether nobody else is in."""
        with self._open() as lock:
            yield _lock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def remove_if_empty(self) -> None:
        """Removes the folder if nobody uses it and nothing is in it; call it inside `alone`."""
        if [path.name for path in self._path.iterdir()] == [IN_USE]:
            self._file.unlink()
            with suppress(OSError):
                self._path.rmdir()

    @contextmanager
    def _open(self) -> Iterator[int]:
        """The descriptor of the file to lock."""
        self._path.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self._file, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            yield descriptor
        finally:
            os.close(descriptor)


def _lock(descriptor: int, how: int) -> bool:
    """Locks; returns False where others have it, or the file system knows no locks."""
    try:
        fcntl.flock(descriptor, how)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in NO_LOCKS:
            raise
        return False
    return True

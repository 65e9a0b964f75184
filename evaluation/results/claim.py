"""A lock on an output, for one command at a time; it ends with its process."""

import contextlib
import errno
import fcntl
import os
import socket
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TextIO

from evaluation.errors import InputError

NO_LOCKS = (errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP)
"""What `flock` fails with on a file system without locks: there nobody is refused."""
_ATTEMPTS = 100
"""To open a file whose folder another process removes and makes at the same time."""


@contextlib.contextmanager
def claim(output: Path, *, command: str, folder: bool) -> Iterator[None]:
    """Hold an output for one command, and make sure that it can be written.

    The claim is a lock on a hidden file: of a command in a folder `.COMMAND.claim`, of a file and
    what is written beside it `.STEM.claim`. The lock ends with its process, so what a killed one
    left is taken over. Nothing stays behind of a command that writes nothing.

    Args:
      output: what `--output` names.
      command: who claims it; in a folder only the same command is refused.
      folder: whether `output` is a folder of results, not a file.

    Raises:
      InputError: if another process holds it, or nothing can be written there.
    """
    if folder:
        place = output / f".{command}.claim"
    elif output.is_dir() or not output.name:
        raise InputError(f"--output {output}: a folder; the name of a file is accepted")
    else:
        place = output.with_name(f".{output.stem}.claim")
    missing = [parent for parent in place.parents if not parent.exists()]
    try:
        file = _locked(place)
    except OSError as error:
        blocked = next((parent for parent in place.parents if parent.is_file()), None)
        reason = f"{blocked} is a file" if blocked else error.strerror or error
        raise InputError(f"--output {output}: cannot be written ({reason})") from error
    if file is None:
        raise InputError(
            f"--output {output} is in use by {_holder(place)}; wait for it to end or name another"
        )
    try:
        file.truncate(0)
        since = datetime.now(UTC).isoformat(timespec="seconds")
        file.write(f"process {os.getpid()} on {socket.gethostname()} since {since} ({command})")
        file.flush()
        yield
    finally:
        place.unlink(missing_ok=True)
        file.close()
        for parent in missing:
            with contextlib.suppress(OSError):  # it has files by now
                parent.rmdir()


def _locked(place: Path) -> TextIO | None:
    """Return the file, locked, or None where another process has locked it."""
    for _ in range(_ATTEMPTS):
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            file = place.open("a+", encoding="utf-8")
        except FileNotFoundError:
            continue  # another process has just removed the folder
        try:
            _lock(file)
            # Else who held it has removed it since it was opened here, or somebody made a new one.
            if os.path.samestat(os.fstat(file.fileno()), place.stat()):
                return file
        except BlockingIOError:
            file.close()
            return None
        except FileNotFoundError:
            pass
        file.close()
    raise FileNotFoundError(f"{place.parent} cannot be made")


def _lock(file: TextIO) -> None:
    """Lock a file, or raise BlockingIOError."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno not in NO_LOCKS:
            raise


def _holder(place: Path) -> str:
    """Return who has locked a file, in words; it says so a moment after it has locked it."""
    for _ in range(20):
        with contextlib.suppress(FileNotFoundError):
            if text := place.read_text(encoding="utf-8"):
                return text
        time.sleep(0.01)
    return "another process"

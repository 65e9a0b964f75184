"""One job at a time in a folder: a second job is refused and told which one is there.

    with claim("pairs/_claim", what="--output: 'pairs/'") as held:
        ...
        held.require()   # before anything is replaced

On a file system the claim is a file with an exclusive `flock`. The system releases the lock when
the process ends, however it ends, so a dead job's claim is free. The lock also works over NFS. The
file says who holds it: host, process, since when, command.

Object stores have no locks. There the claim is an object that its job renews every
`RENEW_SECONDS`; one that was not renewed for `EXPIRE_SECONDS` belonged to a dead job. If two jobs
write it at the same moment, both read it again after `SETTLE_SECONDS`, and the last writer holds
it. docs/data.md, "Two jobs on one folder", lists the remaining risks.

Needs only the standard library, since `model` and `export` use it, too.
"""

import errno
import fcntl
import json
import os
import shlex
import socket
import sys
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

CLAIM = "_claim"
"""The name of the claim in its folder."""
RENEW_SECONDS = 20.0
EXPIRE_SECONDS = 120.0
SETTLE_SECONDS = 2.0
_WRITING_SECONDS = 2.0
"""How long the holder may take between locking the file and writing who it is."""
_COMMAND_CHARACTERS = 120
_MOST_BYTES = 4096
NO_LOCKS = (errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP)
"""Errors of `flock` on a file system without locks."""


class ClaimedError(OSError):
    """Another job holds the claim; the message names it."""


class Objects(Protocol):
    """An object store, which has no renames and no locks."""

    def read(self, path: str) -> bytes | None:
        """The object, or None if there is none."""

    def write(self, path: str, content: bytes) -> None:
        """Writes the object whole."""

    def delete(self, path: str) -> None:
        """Deletes the object."""


class Held(Protocol):
    """A claim that this process holds."""

    def require(self) -> None:
        """Raises ClaimedError if another job has taken the claim over."""


def claim(path: str, *, what: str, objects: Objects | None = None) -> AbstractContextManager[Held]:
    """Holds the claim on a folder for as long as the context is open.

    Args:
      path: of the claim; its folder must exist.
      what: the start of the error message: the option and its value.
      objects: the object store, for a path that is not on a file system.

    Raises:
      ClaimedError: if another job holds it.
      OSError: if the claim cannot be written.
    """
    return _claim_file(path, what) if objects is None else _claim_object(path, what, objects)


def _myself() -> dict[str, Any]:
    # `python -m package` leaves the path of its __main__.py in argv[0].
    program = Path(sys.argv[0])
    name = f"-m {program.parent.name}" if program.name == "__main__.py" else program.name
    command = f"python {name} {shlex.join(sys.argv[1:])}".strip()
    return {
        "host": socket.gethostname(),
        "process": os.getpid(),
        "since": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": command[:_COMMAND_CHARACTERS],
    }


def _refusal(what: str, holder: dict[str, Any] | None) -> ClaimedError:
    if holder is None:
        return ClaimedError(f"{what} is in use by another process that does not say its name")
    return ClaimedError(
        f"{what} is in use by process {holder['process']} on {holder['host']} since "
        f"{holder['since']} ({holder['command']}); wait for it to end or name another folder"
    )


def _as_line(holder: dict[str, Any]) -> bytes:
    return json.dumps(holder).encode() + b"\n"


def _parse(content: bytes | None) -> dict[str, Any] | None:
    """The holder of a claim, or None if it is not a claim."""
    try:
        holder = json.loads(content or b"")
        return holder if {"host", "process", "since", "command"} <= holder.keys() else None
    except (ValueError, AttributeError):
        return None


class _FileHeld:
    """Held by a lock of the system, which no other process can take over."""

    def require(self) -> None:
        pass


@contextmanager
def _claim_file(path: str, what: str) -> Iterator[Held]:
    try:
        descriptor = _lock(path, what)
    except OSError as error:
        if error.errno not in NO_LOCKS:
            raise
        with _claim_object(path, what, _Files()) as held:
            yield held
        return
    try:
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, _as_line(_myself()), 0)
        yield _FileHeld()
    finally:
        # Removed while locked: another `_lock` notices that its file is gone. If the whole folder
        # was replaced, the claim there may be another job's.
        if _is_at(descriptor, path):
            Path(path).unlink()
        os.close(descriptor)


def _lock(path: str, what: str) -> int:
    """A descriptor of the file at `path`, locked.

    Raises:
      ClaimedError: if another process holds it.
    """
    until = time.monotonic() + _WRITING_SECONDS
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_at(descriptor, path):
                _require_claim(descriptor, path)
                return descriptor
        except BlockingIOError:
            # A holder may have locked the file and not yet written who it is.
            holder = _parse(os.pread(descriptor, _MOST_BYTES, 0))
            if holder is not None or time.monotonic() > until:
                os.close(descriptor)
                raise _refusal(what, holder) from None
            time.sleep(0.02)
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)


def _require_claim(descriptor: int, path: str) -> None:
    """Checks that the file is empty or a claim: anything else must not be overwritten."""
    content = os.pread(descriptor, _MOST_BYTES, 0)
    if content and _parse(content) is None:
        raise FileExistsError(f"{path!r} is there and is not a claim of this program; delete it")


def _is_at(descriptor: int, path: str) -> bool:
    """Whether the open file still has this path: the last holder may have removed it."""
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path))  # noqa: PTH116
    except FileNotFoundError:
        return False


class _Files:
    """Files on a file system without locks, such as Lustre mounted without them."""

    def read(self, path: str) -> bytes | None:
        try:
            return Path(path).read_bytes()
        except FileNotFoundError:
            return None

    def write(self, path: str, content: bytes) -> None:
        aside = Path(f"{path}.{uuid.uuid4().hex}")
        aside.write_bytes(content)
        aside.replace(path)

    def delete(self, path: str) -> None:
        Path(path).unlink()


@contextmanager
def _claim_object(path: str, what: str, objects: Objects) -> Iterator[Held]:
    held = _ObjectHeld(path, what, objects)
    held.take()
    try:
        yield held
    finally:
        held.release()


class _ObjectHeld:
    """A claim that lasts as long as it is renewed."""

    def __init__(self, path: str, what: str, objects: Objects):
        self._path, self._what, self._objects = path, what, objects
        self._mine = {**_myself(), "machine": _machine(), "token": uuid.uuid4().hex}
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._renew, daemon=True)

    def take(self) -> None:
        holder = _parse(self._objects.read(self._path))
        if holder is not None and not _is_dead(holder):
            raise _refusal(self._what, holder)
        self._write()
        time.sleep(SETTLE_SECONDS)
        self.require()
        self._thread.start()

    def require(self) -> None:
        holder = _parse(self._objects.read(self._path))
        if holder is None or holder.get("token") != self._mine["token"]:
            raise _refusal(self._what, holder)

    def release(self) -> None:
        self._stop.set()
        self._thread.join()
        with suppress(ClaimedError):
            self.require()
            self._objects.delete(self._path)

    def _write(self) -> None:
        self._objects.write(self._path, _as_line(self._mine | {"renewed": time.time()}))

    def _renew(self) -> None:
        while not self._stop.wait(RENEW_SECONDS):
            # A store that does not answer now may answer next time; a lost claim stays lost, and
            # `require` raises.
            with suppress(OSError):
                self.require()
                self._write()


def _is_dead(holder: dict[str, Any]) -> bool:
    renewed = holder.get("renewed")
    if not isinstance(renewed, int | float) or time.time() - renewed > EXPIRE_SECONDS:
        return True
    is_here = holder.get("machine", "") == _machine() != ""
    return is_here and not _lives(holder["process"])


def _machine() -> str:
    """What tells where process numbers mean the same: the boot and the container; empty if unknown.

    Names of hosts do not: two containers or machines may have one.
    """
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot} {Path('/proc/self/ns/pid').readlink()}"
    except OSError:
        return ""


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True

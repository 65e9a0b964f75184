"""Output is written aside and renamed; one command at a time writes to it; readers take all of it.

with claim(output), aside(output) as new:
    ...  # write the file or folder `new`
"""

import errno
import fcntl
import json
import os
import posixpath
import re
import shutil
import socket
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from common.errors import InputError

CLAIM = "_claim"
COMPLETED, PUBLISHING = "COMPLETED", "_publishing.json"
"""The manifest of a whole folder, which comes last; what is there while its files are replaced."""
_SHARD = re.compile(r"(.+)-\d{5}-of-(\d{5})(.*?)(?:\.gz)?")
_WANTING = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EMFILE, errno.ENFILE, errno.ENOMEM)


class ClaimedError(InputError):
    """Another process works in the folder; the message names it."""


@contextmanager
def aside(output: Path) -> Iterator[Path]:
    """A path to write a file or a folder to, which replaces `output` if nothing is raised.

    A folder takes two renames: if the process is killed between them, or `output` is made anew, the
    old one is `.NAME.*/old` beside it. A file does not replace a folder.
    """
    output.parent.mkdir(parents=True, exist_ok=True)
    beside = Path(tempfile.mkdtemp(prefix=f".{output.name}.", dir=output.parent))
    new, old = beside / "new", beside / "old"
    try:
        with _named(output):
            yield new
        if output.is_dir() and new.is_dir():
            output.rename(old)
        new.replace(output)
        shutil.rmtree(old, ignore_errors=True)
    finally:
        if old.exists() and not output.exists():
            old.rename(output)
        if not old.exists():
            shutil.rmtree(beside, ignore_errors=True)


@contextmanager
def _named(output: Path) -> Iterator[None]:
    """Names what is written in errors for want of room, which often name nothing."""
    try:
        yield
    except OSError as error:
        if error.filename is None and error.errno in _WANTING:
            error.filename = str(output)
        raise


def write_text(path: Path, text: str) -> None:
    """Writes a file aside, then renames it."""
    with aside(path) as new:
        new.write_text(text, encoding="utf-8")


def write_json(path: Path, value: Any) -> None:
    """Writes JSON, in which NaN and infinity are no numbers, aside, then renames it."""
    write_text(path, json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n")


@contextmanager
def claim(folder: Path, *, name: str = CLAIM) -> Iterator[None]:
    """Keeps other processes out of a folder, which is made, and removed if nothing is put there.

    The claim is a locked file that says who holds it; the lock ends with its process. Commands that
    may share a folder have claims of different names. A `ClaimedError` if another process holds it.
    """
    folder = folder.absolute()
    made = [path for path in (folder, *folder.parents) if not path.exists()]
    descriptor = _lock(folder, folder / name)
    try:
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"process {os.getpid()} on {socket.gethostname()}".encode(), 0)
        with _named(folder):
            yield
    finally:
        # Removed while it is locked. Where the folder was replaced, the claim there is another's.
        if _is_at(descriptor, folder / name):
            (folder / name).unlink()
        os.close(descriptor)
        with suppress(OSError):  # it holds something
            for path in made:
                path.rmdir()


def require_only(folder: Path, *names: str) -> None:
    """Refuses a claimed folder of `--output` that holds anything besides files of these names."""
    others = [path.name for path in folder.iterdir() if path.name not in (CLAIM, *names)]
    if others:
        raise InputError(f"--output: {folder} holds {min(others)}; name another folder")


def _lock(folder: Path, path: Path) -> int:
    """A descriptor of the locked file."""
    refused = 0
    while True:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        except (FileExistsError, FileNotFoundError):
            refused += 1
            if refused > 1000 or (folder.exists() and not folder.is_dir()):
                raise  # such as a link to nothing
            continue  # the last holder has just removed the folder
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(descriptor, 1000, 0).decode(errors="replace") or "another process"
            os.close(descriptor)
            said = f"{folder}: in use by {holder}; wait for it to end or name another folder"
            raise ClaimedError(said) from None
        if _is_at(descriptor, path):
            return descriptor
        os.close(descriptor)  # the last holder has removed it since it was opened


def _is_at(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


def _read(path: str) -> bytes:
    return Path(path).read_bytes()


def outputs(folder: str, read: Callable[[str], bytes] = _read) -> dict[str, dict[str, Any]]:
    """Name -> bytes, crc32c and records of a job's files; `read` gives the bytes of any path."""
    try:
        found = json.loads(read(posixpath.join(folder, COMPLETED)))["outputs"]
        return {name: entry for name, entry in found.items() if isinstance(entry, dict)}
    except Exception:  # of any file system; or a file of this name of somebody else
        return {}


def require_whole(
    paths: Iterable[str | Path],
    *,
    names_in: Callable[[str], Iterable[str]] = os.listdir,
    read: Callable[[str], bytes] = _read,
) -> None:
    """An InputError if files that a pattern matched are what is left of a published folder.

    A job was killed while it published them, a shard is missing, or one is of another job than the
    rest. `names_in` gives the names of any folder's files; `read` as in `outputs`.
    """
    by_folder: dict[str, list[str]] = {}
    for path in map(str, paths):
        by_folder.setdefault(posixpath.dirname(path), []).append(posixpath.basename(path))
    for folder, names in by_folder.items():
        there = set(names_in(folder or "."))
        listed = outputs(folder, read) if COMPLETED in there else {}
        if PUBLISHING in there and COMPLETED not in there:
            said = "a job was killed while it replaced the files here; run it again"
            raise InputError(f"{folder}: {PUBLISHING} without {COMPLETED}: {said}")
        unpacked = {name.removesuffix(".gz") for name in there}
        for name, shard in ((name, _SHARD.fullmatch(name)) for name in names):
            if shard is None:
                continue
            stem, count, suffix = shard.groups()
            numbers = (f"{stem}-{number:05d}-of-{count}{suffix}" for number in range(int(count)))
            if missing := [each for each in numbers if each not in unpacked]:
                said = f"missing; {len(missing)} of the {int(count)} shards are"
                path = posixpath.join(folder, missing[0])
                raise InputError(f"{path}: {said}; accepted: all, or files by name")
            if listed and name not in listed:
                said = f"not among the files that {COMPLETED} beside it lists"
                raise InputError(f"{posixpath.join(folder, name)}: {said}")

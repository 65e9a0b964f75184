"""Folders are written aside and take another's place in a single step, where the system can."""

import ctypes
import errno
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from data_pipeline.files.claim import CLAIM, ClaimedError, claim
from model.errors import InputError

_HERE = -100
"""AT_FDCWD: paths are meant as they stand."""
_EXCHANGE = 2
"""RENAME_EXCHANGE of renameat2(2): both names change hands, and nobody sees only one of them."""
_UNKNOWN = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP)


@contextmanager
def claimed(output: Path) -> Iterator[None]:
    """Keeps other jobs out of a folder, which is made if it is not there.

    Raises:
      ClaimedError: if another job works in it.
      InputError: if it cannot be written.
    """
    output = output.resolve()
    is_new = not output.exists()
    what = f"--output: {str(output)!r}"
    try:
        with ExitStack() as stack:
            try:
                output.mkdir(parents=True, exist_ok=True)
                stack.enter_context(claim(str(output / CLAIM), what=what))
            except ClaimedError:
                raise
            except OSError as error:
                raise InputError(f"{what} cannot be written: {error}") from error
            yield
    finally:
        if is_new:
            with suppress(OSError):  # there is something in it now
                output.rmdir()


def is_free(output: Path) -> bool:
    """Whether nothing is in a folder, or nothing but the claim on it."""
    return not output.exists() or (
        output.is_dir() and all(path.name == CLAIM for path in output.iterdir())
    )


@contextmanager
def aside(output: Path) -> Iterator[Path]:
    """A folder to write to, which takes the place of `output` if nothing is raised.

    Raises:
      InputError: if there can be none beside `output`.
    """
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        beside = Path(tempfile.mkdtemp(prefix=f".{output.name}.", dir=output.parent))
    except OSError as error:
        raise InputError(f"--output: {str(output)!r} cannot be written: {error}") from error
    try:
        yield beside / "new"
        _put(beside / "new", output)
    finally:
        shutil.rmtree(beside)


def _put(new: Path, output: Path) -> None:
    """Renames `new` to `output`; what was there before is beside it then, as `new`'s sibling.

    On Linux whoever opens `output` finds the old folder or the new one, also after a kill. On
    file systems without such an exchange there is a moment with neither.

    Raises:
      OSError: if it cannot be renamed; `output` is as it was.
    """
    if not output.exists():
        new.rename(output)
        return
    try:
        _exchange(new, output)
    except OSError as error:
        if error.errno not in _UNKNOWN:
            raise
        old = new.with_name("old")
        output.rename(old)
        new.rename(output)


def _exchange(first: Path, second: Path) -> None:
    try:
        renameat2 = ctypes.CDLL(None, use_errno=True).renameat2
    except AttributeError as error:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS)) from error
    if renameat2(_HERE, os.fsencode(first), _HERE, os.fsencode(second), _EXCHANGE):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), str(second))

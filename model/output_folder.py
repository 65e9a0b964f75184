"""Files and folders are written aside, then renamed; one job at a time works in a folder."""

import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from data_pipeline.storage.claim import CLAIM, ClaimedError, claim
from model.errors import InputError


@contextmanager
def claimed(output: Path) -> Iterator[None]:
    """Keeps other jobs out of a folder, which is made if it does not exist.

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
            with suppress(OSError):  # it is no longer empty
                output.rmdir()


def is_free(output: Path) -> bool:
    """Whether a folder does not exist, or holds nothing but the claim on it."""
    return not output.exists() or (
        output.is_dir() and all(path.name == CLAIM for path in output.iterdir())
    )


def strangers(output: Path, names: Iterable[str]) -> list[str]:
    """What a folder holds besides these names and the claim on it, in order."""
    if not output.is_dir():
        return []
    return sorted(path.name for path in output.iterdir() if path.name not in {*names, CLAIM})


def require_folder(path: Path) -> None:
    """Raises InputError unless a folder of this name can be written to, or made."""
    existing = next(
        folder for folder in (path, *path.absolute().parents) if os.path.lexists(folder)
    )
    if not existing.is_dir():
        raise InputError(f"--output {path}: {existing} is not a folder")
    if not os.access(existing, os.W_OK | os.X_OK):
        raise InputError(f"--output {path}: {existing} cannot be written to")


@contextmanager
def aside(output: Path) -> Iterator[Path]:
    """A path to write a file or a folder to, which replaces `output` if nothing is raised.

    A file is replaced in one step. A folder takes two renames: whoever opens it between them finds
    none. If the process is killed between them, the old folder is in `.NAME.*/old` beside it.

    Raises:
      InputError: if nothing can be written beside `output`, or somebody made the folder between the
        two renames; the old one is then kept beside it.
    """
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        beside = Path(tempfile.mkdtemp(prefix=f".{output.name}.", dir=output.parent))
    except OSError as error:
        raise InputError(f"--output: {str(output)!r} cannot be written: {error}") from error
    new, old = beside / "new", beside / "old"
    is_only_copy = False
    try:
        yield new
        try:
            if output.is_dir():
                output.rename(old)
            new.replace(output)
        except BaseException as error:  # Ctrl-C, too
            if old.exists():
                is_only_copy = True
                _put_back(old, output, error)
                is_only_copy = False
            raise
    finally:
        if not is_only_copy:
            shutil.rmtree(beside)


def _put_back(old: Path, output: Path, error: BaseException) -> None:
    try:
        old.rename(output)
    except OSError:
        raise InputError(
            f"--output: {str(output)!r} cannot be replaced: {error}; what was there is in "
            f"{str(old)!r}"
        ) from error


def write_text(path: Path, text: str) -> None:
    """Writes a file aside, then renames it."""
    with aside(path) as new:
        new.write_text(text, encoding="utf-8")


def write_json(path: Path, value: Any) -> None:
    """Writes JSON, in which NaN and infinity are no numbers, aside, then renames it."""
    write_text(path, json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n")

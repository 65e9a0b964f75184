"""Where results go, looked at before anything is computed for it."""

import os
from pathlib import Path

from model.errors import InputError


def check_folder(path: Path) -> None:
    """Raise InputError unless a folder of this name can be written to, or made."""
    there = next(place for place in (path, *path.absolute().parents) if os.path.lexists(place))
    if not there.is_dir():
        raise InputError(f"--output {path}: {there} is no folder")
    if not os.access(there, os.W_OK | os.X_OK):
        raise InputError(f"--output {path}: {there} cannot be written to")


def check_file(path: Path) -> None:
    """Raise InputError unless a file of this name can be written."""
    if path.is_dir():
        raise InputError(f"--output {path}: a folder; the name of a file is accepted")
    check_folder(path.parent)

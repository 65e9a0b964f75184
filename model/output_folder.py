"""Moved to `common.files`."""

import os
from collections.abc import Iterable
from pathlib import Path

from common.errors import InputError
from common.files import CLAIM
from common.files import aside as aside
from common.files import claim as claimed
from common.files import write_json as write_json
from common.files import write_text as write_text

__all__ = ["aside", "claimed", "is_free", "require_folder", "strangers", "write_json", "write_text"]


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

"""Locks on the outputs of commands, so that two processes do not write the same."""

from contextlib import AbstractContextManager
from pathlib import Path

from common.errors import InputError
from common.files import claim


def folder(output: Path, command: str) -> AbstractContextManager:
    """Hold a folder for one command; others may write to it at the same time."""
    return claim(output, name=f".{command}.claim")


def file(output: Path) -> AbstractContextManager:
    """Hold a file and those beside it that differ in the suffix."""
    if output.is_dir():
        raise InputError(f"--output {output}: a folder; the name of a file is accepted")
    return claim(output.parent, name=f".{output.stem}.claim")

"""Types of the benchmarks' options, checked before anything is measured."""

import argparse
import math
import shutil
from collections.abc import Callable
from pathlib import Path


def at_least(lowest: int) -> Callable[[str], int]:
    """A type for whole numbers of at least `lowest`."""

    def number(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = lowest - 1
        if value < lowest:
            raise argparse.ArgumentTypeError(
                f"{text!r}; accepted: whole numbers of at least {lowest}"
            )
        return value

    return number


def seconds(text: str) -> float:
    """A type for finite numbers above 0."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r}; accepted: finite numbers above 0")
    return value


def file_to_write(text: str) -> Path:
    """A type for files in existing folders."""
    path = Path(text)
    if path.is_dir() or not path.parent.is_dir():
        raise argparse.ArgumentTypeError(f"{text!r}; accepted: a file in a folder that is there")
    return path


def program(text: str) -> str:
    """A type for programs that can be started."""
    if shutil.which(text) is None:
        raise argparse.ArgumentTypeError(f"{text!r}; accepted: a program that can be started")
    return text


def files(text: str) -> str:
    """A type for a pattern, such as `DIR/train-*`, of existing files."""
    path = Path(text)
    if not any(path.parent.glob(path.name)):
        raise argparse.ArgumentTypeError(f"{text!r}: no such files")
    return text


def folder(text: str) -> str:
    """A type for an existing folder."""
    if not Path(text).is_dir():
        raise argparse.ArgumentTypeError(f"{text!r}: no such folder")
    return text

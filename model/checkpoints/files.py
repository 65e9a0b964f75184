"""Checkpoint files of a folder: finds the last one, tidies up, and names a damaged one.

TensorFlow finds the last checkpoint by a file named `checkpoint` beside it. If that is missing, as
where a run was killed before it named its first one, a run would start again at step 0; here
checkpoints are then found by their file names.
"""

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import tensorflow as tf

from common.errors import InputError, message_of
from model import BEST

_STATE = "checkpoint"
_INDEX = re.compile(r"ckpt-(\d+)\.index")
PARAMS_FILE, RUN_FILE = "params.yaml", "run.json"
_LEFT_OVER = ("ckpt-*_temp", f"{_STATE}.tmp*", f".{PARAMS_FILE}.*", f".{RUN_FILE}.*")
_UNREADABLE = (tf.errors.OpError, IndexError, RuntimeError, TypeError, ValueError, MemoryError)
"""TensorFlow raises any of these for a damaged file."""


def last(folder: str | Path) -> str | None:
    """The last checkpoint of a folder, such as `run/ckpt-40`; None if it has none.

    It may lack some of its files: reading it then raises an error.
    """
    return _named(folder) or next(iter(_found(folder)), None)


def _named(folder: str | Path) -> str | None:
    """The checkpoint that the `checkpoint` file names, if any file of it is left."""
    try:
        state = tf.train.get_checkpoint_state(str(folder))
    except ValueError:  # names none, or is no text
        return None
    path = state and Path(state.model_checkpoint_path)
    return str(path) if path and any(path.parent.glob(f"{path.name}.*")) else None


def _found(folder: str | Path) -> list[str]:
    """The checkpoints whose index is in the folder, newest first."""
    names = [path.name for path in Path(folder).glob("ckpt-*.index")]
    steps = sorted((int(match[1]) for match in map(_INDEX.fullmatch, names) if match), reverse=True)
    return [str(Path(folder, f"ckpt-{step}")) for step in steps]


def tidy(folder: Path) -> None:
    """Restores a lost `checkpoint` file, and removes partly written files of a killed run.

    For a run that holds the claim on the folder.
    """
    for path in (path for pattern in _LEFT_OVER for path in folder.glob(pattern)):
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    if not _named(folder) and (found := _found(folder)):
        print(f"{folder / _STATE} names no checkpoint; the last one is {found[0]}", flush=True)
        names = [Path(path).name for path in reversed(found)]
        tf.__internal__.train.update_checkpoint_state(
            str(folder), names[-1], all_model_checkpoint_paths=names, save_relative_paths=True
        )


@contextmanager
def restoring(checkpoint: str) -> Iterator[None]:
    """Turns TensorFlow's errors about a checkpoint that is read inside into one line.

    Raises:
      InputError: if reading fails; says what is left.
    """
    try:
        yield
    except (tf.errors.UnavailableError, tf.errors.AbortedError):
        raise  # another process died
    except _UNREADABLE as error:
        folder = Path(checkpoint).parent
        others = [path for path in _found(folder) if path != checkpoint]
        ways = [f"remove {checkpoint}.* to use {path}" for path in others]
        if best := last(folder / BEST):
            ways.append(f"begin a new run with task.init_checkpoint={best}")
        raise InputError(
            f"{checkpoint} cannot be restored ({message_of(error)}). What is left: "
            f"{' or '.join(ways[:1] + ways[1:][-1:]) or 'no other checkpoint'}"
        ) from error

"""Checkpoint files of a folder: finds the last one, tidies up, and names a damaged file.

TensorFlow finds the last checkpoint by a file named `checkpoint` beside it. If that is missing, or
names a checkpoint that is gone, a run would start again at step 0; here checkpoints are then found
by their file names.
"""

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import tensorflow as tf

from common.errors import InputError, message_of

BEST = "best"
"""The folder in the model folder of the checkpoint that validated best."""
_STATE = "checkpoint"
_INDEX = re.compile(r"ckpt-(\d+)\.index")
_LEFT_OVER = ("ckpt-*_temp", f"{_STATE}.tmp*", ".params.yaml.*", ".run.json.*")
"""Partly written files of a killed run."""
_UNREADABLE = (tf.errors.OpError, IndexError, RuntimeError, TypeError, ValueError, MemoryError)
"""TensorFlow raises any of these for a damaged file."""


def last(folder: str | Path, *, tell: bool = False) -> str | None:
    """The last checkpoint of a folder, such as `run/ckpt-40`; None if it has none.

    It may lack some of its files: reading it then raises an error that names them.

    Args:
      folder: a model folder.
      tell: whether to print that it was found by its file name.
    """
    if named := _named(folder):
        return named
    newest = next(iter(_found(folder)), None)
    if tell and newest:
        print(
            f"{Path(folder, _STATE)} names no checkpoint that is there; the last one is {newest}, "
            "found by its file name",
            flush=True,
        )
    return newest


def _named(folder: str | Path) -> str | None:
    """The checkpoint that the `checkpoint` file names, if any file of it is left."""
    logger = tf.get_logger()
    level = logger.level
    logger.setLevel("ERROR")  # it warns of a file that cannot be parsed
    try:
        state = tf.train.get_checkpoint_state(str(folder))
    except ValueError:  # names none, or is no text
        return None
    finally:
        logger.setLevel(level)
    if state is None:
        return None
    path = Path(state.model_checkpoint_path)
    return str(path) if [*path.parent.glob(f"{path.name}.index"), *_shards(path)] else None


def _found(folder: str | Path) -> list[str]:
    """The checkpoints whose index is in the folder, newest first."""
    names = [path.name for path in Path(folder).glob("ckpt-*.index")]
    steps = sorted((int(match[1]) for match in map(_INDEX.fullmatch, names) if match), reverse=True)
    return [str(Path(folder, f"ckpt-{step}")) for step in steps]


def _shards(checkpoint: Path) -> list[Path]:
    return sorted(checkpoint.parent.glob(f"{checkpoint.name}.data-?????-of-?????"))


def tidy(folder: Path) -> None:
    """Restores a lost `checkpoint` file, and removes partly written files of a killed run.

    For a run that holds the claim on the folder.
    """
    for path in (path for pattern in _LEFT_OVER for path in folder.glob(pattern)):
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    if not _named(folder) and (found := _found(folder)):
        names = [Path(path).name for path in reversed(found)]
        tf.__internal__.train.update_checkpoint_state(
            str(folder), names[-1], all_model_checkpoint_paths=names, save_relative_paths=True
        )


@contextmanager
def damage_named(checkpoint: str | None, *, while_last: bool = False) -> Iterator[None]:
    """Turns TensorFlow's errors about a damaged checkpoint into one line.

    Args:
      checkpoint: read inside the context; variables that do not exist yet are read when made.
      while_last: whether errors have other causes as soon as there is a newer checkpoint, for which
        training may have deleted this one.

    Raises:
      InputError: if reading fails and a file of the checkpoint is missing or damaged.
    """
    try:
        yield
    except (InputError, tf.errors.UnavailableError, tf.errors.AbortedError):
        raise  # another process died
    except _UNREADABLE as error:
        if not checkpoint or (while_last and last(Path(checkpoint).parent) != checkpoint):
            raise
        if damage := _damage(Path(checkpoint)):
            raise InputError(f"{damage}. {_way_out(checkpoint)}") from error
        raise


def _damage(checkpoint: Path) -> str | None:
    """Reads a checkpoint; says which file is missing or damaged, or None."""
    index, shards = Path(f"{checkpoint}.index"), _shards(checkpoint)
    if not index.exists():
        return f"{index} is missing"
    if not shards or len(shards) < int(shards[0].name[-5:]):
        return f"{checkpoint}.data-* is missing, or a part of it"
    reading = index
    try:
        reader = tf.train.load_checkpoint(str(checkpoint))
        variables = sorted(reader.get_variable_to_shape_map())
        reading = shards[0] if len(shards) == 1 else Path(f"{checkpoint}.data-*")
        for variable in variables:
            reader.get_tensor(variable)
    except _UNREADABLE as error:
        return f"{reading} is damaged ({message_of(error)})"
    return None


def _way_out(checkpoint: str) -> str:
    """What the user can do about a damaged checkpoint."""
    folder = Path(checkpoint).parent
    ways = [f"remove {checkpoint}.* to use {path}" for path in _found(folder) if path != checkpoint]
    if best := last(folder / BEST):
        ways.append(f"begin a new run with task.init_checkpoint={best}")
    return f"What is left: {' or '.join(ways[:1] + ways[1:][-1:]) or 'no other checkpoint'}"

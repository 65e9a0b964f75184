"""Checkpoint files of a folder: finds the last one, tidies up, and names a damaged file.

TensorFlow finds the last checkpoint by a file named `checkpoint` beside it. If that is missing, or
names a checkpoint that is gone, a run would start again at step 0; here checkpoints are then found
by their file names.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from posixpath import basename, dirname, join

import tensorflow as tf

from model.errors import InputError

STATE = "checkpoint"
"""The file that names the last checkpoint."""
BEST = "best"
BEST_RECORD = "best.json"
"""In the folder of a best checkpoint: its step, and the metric that chose it."""
_INDEX = re.compile(r"ckpt-(\d+)\.index")
_DATA = re.compile(r"\.data-\d{5}-of-\d{5}$")
_LEFT_OVER = (
    "ckpt-*_temp",
    f"{STATE}.tmp*",
    *(f"{name}.new" for name in ("params.yaml", "vocabulary.json", "data.json", BEST_RECORD)),
)
"""Partly written files of a killed run."""
_UNREADABLE = (tf.errors.OpError, IndexError, RuntimeError, TypeError, ValueError, MemoryError)
"""TensorFlow raises any of these for a damaged file."""


def last(folder: str) -> str | None:
    """The last checkpoint of a folder, such as `run/ckpt-40`; None if it has none.

    It may lack some of its files: reading it then raises an error that names them.
    """
    return _named(folder) or next(iter(found(folder)), None)


def found(folder: str) -> list[str]:
    """The checkpoints whose index is in the folder, newest first."""
    steps = sorted(int(match[1]) for match in map(_INDEX.fullmatch, _names(folder)) if match)
    return [join(folder, f"ckpt-{step}") for step in reversed(steps)]


def notice(folder: str) -> str | None:
    """A line for the user if the last checkpoint was found by its file name."""
    newest = last(folder)
    if newest is None or _named(folder):
        return None
    return (
        f"{join(folder, STATE)} names no checkpoint that is there; the last one is {newest}, "
        "found by its file name"
    )


def tidy(folder: str) -> None:
    """Restores a lost `checkpoint` file, and removes partly written files of a killed run.

    For a run that holds the claim on the folder.
    """
    for pattern in _LEFT_OVER:
        for path in tf.io.gfile.glob(join(folder, pattern)):
            tf.io.gfile.rmtree(path) if tf.io.gfile.isdir(path) else tf.io.gfile.remove(path)
    newest = last(folder)
    if newest is not None and not _named(folder):
        names = [basename(path) for path in reversed(found(folder))]
        tf.__internal__.train.update_checkpoint_state(
            folder, basename(newest), all_model_checkpoint_paths=names, save_relative_paths=True
        )


@contextmanager
def damage_named(checkpoint: str | None, *, name: str, while_last: bool = False) -> Iterator[None]:
    """Turns TensorFlow's errors about a damaged checkpoint into one line.

    Args:
      checkpoint: read inside the context; variables that do not exist yet are read when made.
      name: the option that names its folder, such as `--model_dir`.
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
        if not checkpoint or (while_last and last(dirname(checkpoint)) != checkpoint):
            raise
        damage = find_damage(checkpoint)
        if not damage:
            raise
        raise InputError(f"{name}: {damage}. {_way_out(checkpoint)}") from error


def find_damage(checkpoint: str) -> str | None:
    """Reads a checkpoint; says which file is missing or damaged, or None."""
    shards = _shards(checkpoint)
    if not tf.io.gfile.exists(f"{checkpoint}.index"):
        return f"{checkpoint}.index is missing"
    if not shards or len(shards) < int(shards[0].rpartition("-")[2]):
        return f"{checkpoint}.data-* is missing, or a part of it"
    data = shards[0] if len(shards) == 1 else f"{checkpoint}.data-*"
    try:
        reader = tf.train.load_checkpoint(checkpoint)
        variables = sorted(reader.get_variable_to_shape_map())
    except _UNREADABLE as error:
        return f"{checkpoint}.index is damaged ({_line(error)})"
    for variable in variables:
        try:
            reader.get_tensor(variable)
        except _UNREADABLE as error:
            return f"{data} is damaged ({_line(error)})"
    return None


def _way_out(checkpoint: str) -> str:
    """What the user can do about a damaged checkpoint."""
    folder, name = dirname(checkpoint), basename(checkpoint)
    others = [path for path in found(folder) if path != checkpoint]
    ways = []
    if others:
        ways.append(f"remove {checkpoint}.* to use {basename(others[0])}")
    if last(join(folder, BEST)):
        ways.append(
            f"use {join(folder, BEST)}, which validated best (task.init_checkpoint for a new run)"
        )
    advice = " or ".join(ways) or f"there is no other than {name}"
    return advice[0].upper() + advice[1:]


def _named(folder: str) -> str | None:
    """The checkpoint that the `checkpoint` file names, if any file of it is left."""
    logger = tf.get_logger()
    level = logger.level
    logger.setLevel("ERROR")  # it warns of a file that cannot be parsed, reported elsewhere
    try:
        state = tf.train.get_checkpoint_state(folder)
    except ValueError:  # names none, or is no text
        return None
    finally:
        logger.setLevel(level)
    if state is None:
        return None
    path = state.model_checkpoint_path
    name = basename(path)
    own = (f"{name}.index", f"{name}.data-")
    return path if any(other.startswith(own) for other in _names(dirname(path))) else None


def _shards(checkpoint: str) -> list[str]:
    folder, name = dirname(checkpoint), basename(checkpoint)
    files = [other for other in _names(folder) if other.startswith(f"{name}.data-")]
    return [join(folder, file) for file in sorted(files) if _DATA.search(file)]


def _names(folder: str) -> list[str]:
    try:
        return tf.io.gfile.listdir(folder)
    except tf.errors.OpError:
        return []


def _line(error: BaseException) -> str:
    return " ".join(str(getattr(error, "message", error)).split())

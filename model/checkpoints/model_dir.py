"""The model folder of a run.

_claim                 names the process that trains there, while it does
params.yaml            all parameters of the run
vocabulary.json        checksums of its vocabulary, if it has one
data.json              sizes and checksums of its training records
ckpt-*                 the last checkpoints; a run resumes from the newest
best/                  params.yaml, the checkpoint that validated best, and best.json
failure.txt            why the finished run failed, if it did
train/, validation/    events for TensorBoard
"""

import json
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from posixpath import join
from typing import Any

import tensorflow as tf
import yaml
from official.core import config_definitions
from official.modeling import hyperparams

from data_pipeline.storage.claim import CLAIM, Held, claim
from model.checkpoints import files
from model.checkpoints.files import BEST, BEST_RECORD
from model.errors import InputError, TrainingError
from model.text import vocabulary
from model.training.optimizer import DECAYS, LEARNING_RATE

PARAMS_FILE = "params.yaml"
_VOCABULARY_FILE = "vocabulary.json"
_DATA_FILE = "data.json"
_FAILURE_FILE = "failure.txt"
_VALIDATED_FILE = "validated.json"
Records = dict[str, dict[str, list[Any]]]
"""Section, such as `task.train_data`, -> file -> its bytes and checksum."""
_FIXED = ("task", "trainer.optimizer_config", "trainer.average_decay", "trainer.average_every")
"""A resumed run must have the same of these; its length, how often it saves and the machines may
change."""
_EVALUATED = ("task.model", "trainer.average_decay")
"""Validation must have the same of these: what the checkpoint holds, and whether its average is the
model."""
_SHOWN = 10


class _StoredObjects:
    """Claims on an object store, through TensorFlow's file systems.

    Each raises OSError if the store does not answer.
    """

    def read(self, path: str) -> bytes | None:
        """The object, or None."""
        try:
            with _as_os_error(), tf.io.gfile.GFile(path, "rb") as file:
                return file.read()
        except FileNotFoundError:
            return None

    def write(self, path: str, content: bytes) -> None:
        """Writes the object; stores replace it whole."""
        with _as_os_error(), tf.io.gfile.GFile(path, "wb") as file:
            file.write(content)

    def delete(self, path: str) -> None:
        """Deletes the object."""
        with _as_os_error():
            tf.io.gfile.remove(path)


@contextmanager
def _as_os_error() -> Iterator[None]:
    try:
        yield
    except tf.errors.NotFoundError as error:
        raise FileNotFoundError(error.message) from error
    except tf.errors.OpError as error:
        raise OSError(error.message) from error


def claimed(folder: str) -> AbstractContextManager[Held]:
    """Keeps other runs out of a folder while the context is open; makes the folder.

    Raises:
      ClaimedError: if another run trains in it.
      InputError: if it is not a folder.
    """
    make(folder)
    objects = _StoredObjects() if "://" in folder else None
    return claim(join(folder, CLAIM), what=f"--model_dir: {folder!r}", objects=objects)


def make(folder: str) -> None:
    """Makes the folder.

    Raises:
      InputError: if it is not a folder.
    """
    try:
        tf.io.gfile.makedirs(folder)
    except tf.errors.OpError as error:
        raise InputError(
            f"--model_dir: {folder!r} is not a folder, nor can it be made: {error.message}"
        ) from error


def prepare(params: config_definitions.ExperimentConfig, *, mode: str, folder: str) -> None:
    """Makes the folder, and checks that a run in it has the same parameters.

    A folder with a best checkpoint only may start at step 0 again, if its parameters are the same.

    Raises:
      InputError: if it is not a folder, holds another run or another run's best checkpoint, or, in
        mode `eval`, no checkpoint.
    """
    if mode != "eval" and tf.io.gfile.exists(join(folder, BEST_RECORD)):
        raise InputError(
            f"--model_dir: {folder!r} holds the best checkpoint of a run, without what training "
            "goes on from; accepted: the folder of the run, or a new one with "
            f"task.init_checkpoint={folder}"
        )
    if mode != "eval":
        make(folder)
    if files.last(folder) is None:
        if mode != "eval":
            _require_own_params(folder)
        if mode == "eval":
            raise InputError(f"--model_dir: {folder!r} holds no checkpoint to evaluate")
        best = files.last(join(folder, BEST))
        if "train" in mode and best is not None:
            _require_same(params, join(folder, BEST), fixed=_FIXED)
            print(f"{folder} has no checkpoint except {best}: training restarts at step 0")
        return
    _require_same(params, folder, fixed=_FIXED if "train" in mode else _EVALUATED)
    notice = files.notice(folder)
    if notice:
        print(notice)


def _require_own_params(folder: str) -> None:
    """Checks that training wrote the `params.yaml` that it will replace."""
    path = join(folder, PARAMS_FILE)
    if not tf.io.gfile.exists(path):
        return
    try:
        with tf.io.gfile.GFile(path) as file:
            text = file.read()
        is_own = yaml.safe_dump(yaml.safe_load(text), default_flow_style=False) == text
    except (tf.errors.OpError, UnicodeDecodeError, yaml.YAMLError):
        is_own = False
    if not is_own:
        raise InputError(
            f"--model_dir: {path!r} was not written by training, which would replace it; accepted: "
            "a folder without such a file"
        )


def _require_same(
    params: config_definitions.ExperimentConfig, folder: str, *, fixed: tuple[str, ...]
) -> None:
    require_vocabulary(folder, params.task.model.text.vocabulary)
    earlier, now = dict(_flat(read_params(folder))), dict(_flat(params.as_dict()))
    for name in now.keys() - earlier.keys():
        # An earlier version did not have it: it had the effect of today's default.
        earlier[name] = _default(params, name)
    differences = [
        f"{name} was {earlier.get(name)!r}, now {now.get(name)!r}"
        for name in sorted(earlier.keys() | now.keys())
        if name.startswith(fixed)
        and earlier.get(name) != now.get(name)
        and not (_is_whole_decay(name, earlier) and _is_whole_decay(name, now))
    ]
    if differences:
        more = len(differences) - _SHOWN
        raise InputError(
            f"--model_dir: {folder!r} holds a run with other parameters: "
            + "; ".join(differences[:_SHOWN])
            + (f"; and {more} more" if more > 0 else "")
            + ". Go on with those, or name another folder"
        )


def _default(params: config_definitions.ExperimentConfig, name: str) -> Any:
    """The default of a parameter that is not stored."""
    section, *path = name.split(".")
    found: Any = type(getattr(params, section))()
    for part in path:
        found = getattr(found, part)
    return found.as_dict() if isinstance(found, hyperparams.Config) else found


def _is_whole_decay(name: str, params: dict[str, Any]) -> bool:
    """Whether a parameter lets the learning rate decay over all steps of the run."""
    decays = (f"{LEARNING_RATE}.{kind}.{steps}" for kind, steps in DECAYS.items())
    return name in decays and params.get(name) in (None, 0, params.get("trainer.train_steps"))


def write_params(params: config_definitions.ExperimentConfig, folder: str) -> None:
    """Writes `params.yaml`, and the checksums of the vocabulary that its ids are of."""
    write(join(folder, PARAMS_FILE), yaml.safe_dump(params.as_dict(), default_flow_style=False))
    if named := params.task.model.text.vocabulary:
        write(join(folder, _VOCABULARY_FILE), json.dumps(vocabulary.checksums(named)) + "\n")


def copy_params(folder: str, to: str) -> None:
    """Copies what `write_params` has written, for a process that only validates."""
    for name in (PARAMS_FILE, _VOCABULARY_FILE):
        if tf.io.gfile.exists(join(folder, name)):
            with tf.io.gfile.GFile(join(folder, name)) as file:
                write(join(to, name), file.read())


def write_data(records: Records, folder: str) -> None:
    """Writes what `require_data` compares."""
    write(join(folder, _DATA_FILE), json.dumps(records, indent=1) + "\n")


def require_data(records: Records, folder: str) -> None:
    """Checks that a run goes on with the records that it began with.

    Its place in them would be that of other records.

    Args:
      records: of now.
      folder: of the run; one of an earlier version has no `data.json`, and is not checked.

    Raises:
      InputError: if a file is another one now.
    """
    path = join(folder, _DATA_FILE)
    if files.last(folder) is None or not tf.io.gfile.exists(path):
        return
    try:
        with tf.io.gfile.GFile(path) as file:
            earlier = {section: dict(some) for section, some in json.loads(file.read()).items()}
    except (tf.errors.OpError, AttributeError, TypeError, ValueError) as error:
        raise InputError(
            f"--model_dir: {path!r} is damaged: {error}; accepted: the file as training wrote it"
        ) from error
    for section, now in records.items():
        before = earlier.get(section, {})
        for name in sorted(now.keys() | before.keys()):
            if now.get(name) == before.get(name):
                continue
            what = "has changed" if name in now and name in before else "is new"
            raise InputError(
                f"--model_dir: {folder!r} holds a run on other records: {section}.input_path: "
                f"{name!r} {what if name in now else 'is gone'}. Name another folder; "
                f"task.init_checkpoint={folder} begins with the weights of this one"
            )


def require_vocabulary(folder: str, named: str, *, name: str = "--model_dir") -> None:
    """Checks that a vocabulary is still the one that the run in a folder was trained with.

    Args:
      folder: of the run; one of an earlier version has no checksums, and is not checked.
      named: `task.model.text.vocabulary`.
      name: the option that names the folder.

    Raises:
      InputError: if it has other tokens now: the run's ids would be of other words.
    """
    path = join(folder, _VOCABULARY_FILE)
    if not tf.io.gfile.exists(path):
        return
    try:
        with tf.io.gfile.GFile(path) as file:
            earlier = json.loads(file.read())
    except (tf.errors.OpError, ValueError) as error:
        raise InputError(
            f"{name}: {path!r} is damaged: {error}; accepted: the file as training wrote it"
        ) from error
    now = vocabulary.checksums(named)
    if now and earlier and now != earlier:
        raise InputError(
            f"{name}: {folder!r} holds a run with other tokens than the vocabulary {named!r} has "
            "now; accepted: the vocabulary that it was trained with (task.model.text.vocabulary)"
        )


def read_params(folder: str, *, name: str = "--model_dir") -> dict[str, Any]:
    """The parameters of the run in a folder; `name` is the option that names the folder.

    Raises:
      InputError: if `params.yaml` is missing or malformed.
    """
    try:
        with tf.io.gfile.GFile(join(folder, PARAMS_FILE)) as file:
            params = yaml.safe_load(file.read())
        if not isinstance(params, dict):
            raise TypeError(f"{params!r} are not parameters")
    except (tf.errors.OpError, TypeError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise InputError(
            f"{name}: {folder!r} holds a checkpoint, but no {PARAMS_FILE} that says "
            f"what it is of: {error}"
        ) from error
    return params


def write_validated(folder: str, step: int) -> None:
    """Records that a run has ended, with the validation of its last step."""
    write(join(folder, _VALIDATED_FILE), json.dumps({"step": step}) + "\n")


def is_validated(folder: str, step: int) -> bool:
    """Whether a run has ended with the validation of this step."""
    path = join(folder, _VALIDATED_FILE)
    if not tf.io.gfile.exists(path):
        return False
    with tf.io.gfile.GFile(path) as file:
        return file.read() == json.dumps({"step": step}) + "\n"


def write_failure(folder: str, why: str) -> None:
    """Records why a finished run failed; an empty text removes the record."""
    path = join(folder, _FAILURE_FILE)
    if why:
        write(path, f"{why}\n")
    elif tf.io.gfile.exists(path):
        tf.io.gfile.remove(path)


def failure(folder: str) -> str:
    """Why the finished run failed; empty if it did not."""
    path = join(folder, _FAILURE_FILE)
    if not tf.io.gfile.exists(path):
        return ""
    with tf.io.gfile.GFile(path) as file:
        return file.read().strip()


def _flat(params: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in params.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def write(path: str, text: str) -> None:
    """Writes a file atomically.

    Raises:
      TrainingError: if it cannot be written.
    """
    try:
        with tf.io.gfile.GFile(f"{path}.new", "w") as file:
            file.write(text)
        tf.io.gfile.rename(f"{path}.new", path, overwrite=True)
    except tf.errors.OpError as error:
        raise TrainingError(f"{path!r} cannot be written: {error.message}") from error

"""The model folder of a run, and whether another run may begin or go on in it.

_claim                 names the process that trains there, while it does
params.yaml            all parameters of the run
run.json               what the run knows of itself: data, vocabulary, whether it failed
ckpt-*                 the last checkpoints; a run resumes from the newest
best/                  params.yaml, run.json and the checkpoint that validated best
train/, validation/    events for TensorBoard
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import yaml
from official.core import config_definitions

from common.errors import InputError, reading
from common.files import write_text
from model import BEST
from model.checkpoints import files
from model.checkpoints.files import PARAMS_FILE, RUN_FILE
from model.optimizer import DECAY_STEPS
from model.text import vocabulary

_FIXED = ("task", "trainer.optimizer_config", "trainer.average_decay", "trainer.average_every")
"""A resumed run must have the same of these; its length, how often it saves and the machines may
change."""
_EVALUATED = ("task.model", "trainer.average_decay")
"""Validation must have the same of these: what the checkpoint holds, and whether its average is the
model."""

Records = dict[str, dict[str, list[int | str | None]]]
"""Section, such as `task.train_data`, -> file -> its bytes, and its checksum if it is known."""


class Best(msgspec.Struct):
    """The validation that was best so far."""

    step: int
    metric: str
    value: float


class Record(msgspec.Struct, omit_defaults=True):
    """What is read and written as `run.json`."""

    vocabulary: dict[str, str] = {}
    """Checksum of each file of the vocabulary, if the run has one."""
    data: Records = {}
    """What is trained on."""
    best: Best | None = None
    """Only in `best/`."""
    validated: int | None = None
    """The step at which the run has ended, with its validation."""
    failure: str = ""
    """Why the finished run failed, if it did."""

    @classmethod
    def read(cls, folder: str | Path) -> "Record | None":
        """The record of a folder; None if it has none."""
        path = Path(folder, RUN_FILE)
        if not path.exists():
            return None
        with reading(f"{path} is damaged"):
            return msgspec.json.decode(path.read_bytes(), type=cls)

    def write(self, folder: str | Path) -> None:
        """Replaces the record of a folder."""
        text = msgspec.json.format(msgspec.json.encode(self), indent=1).decode()
        write_text(Path(folder, RUN_FILE), f"{text}\n")


def prepare(
    params: config_definitions.ExperimentConfig,
    *,
    mode: str,
    folder: Path,
    data: Records | None = None,
) -> Record:
    """Checks that a run may begin or go on in a folder; returns what it then knows of itself.

    A folder with a best checkpoint only may start at step 0 again, if its parameters are the same.
    `data` is what the run trains on, if it does.

    Raises:
      InputError: if it holds another run or another run's best checkpoint or, in mode `eval`, no
        checkpoint.
    """
    of_run, last, best = Record.read(folder), files.last(folder), files.last(folder / BEST)
    if mode == "eval":
        if last is None:
            raise InputError(f"{folder} holds no checkpoint to evaluate")
        _require_same(params, folder, fixed=_EVALUATED)
        return of_run or Record()
    is_begun = last is not None or (folder / PARAMS_FILE).exists()
    if (of_run is None and is_begun) or (of_run and of_run.best):
        what = "a best checkpoint" if of_run else f"a run without its {RUN_FILE}"
        raise InputError(
            f"{folder} holds {what}, from which no training goes on; accepted: the folder of a "
            f"run, or a new one, for example with task.init_checkpoint={folder}"
        )
    of_run = of_run or Record()
    if last:
        _require_same(params, folder, fixed=_FIXED)
        _require_same_data(of_run.data, data or {}, folder)
    elif best:
        _require_same(params, folder / BEST, fixed=_FIXED)
        print(f"{folder} has no checkpoint except {best}: training restarts at step 0")
    of_run.vocabulary = vocabulary.checksums(params.task.model.text.vocabulary)
    of_run.data = data or {}
    return of_run


def _require_same_data(earlier: Records, now: Records, folder: Path) -> None:
    """A run's place in its records would be that of others."""
    for section, files_now in now.items():
        before = earlier.get(section, {})
        for name in sorted(before.keys() | files_now.keys()):
            if before.get(name) != files_now.get(name):
                raise InputError(
                    f"{folder} holds a run on other records: {section}.input_path: {name!r} is "
                    f"new, gone or changed. Name another folder; task.init_checkpoint={folder} "
                    "begins with the weights of this one"
                )


def _require_same(
    params: config_definitions.ExperimentConfig, folder: Path, *, fixed: tuple[str, ...]
) -> None:
    require_vocabulary(folder, params.task.model.text.vocabulary)
    earlier, now = dict(flat(read_params(folder))), dict(flat(params.as_dict()))
    for name in sorted(earlier.keys() & now.keys()):  # versions may differ in their parameters
        is_same = earlier[name] == now[name] or (
            _is_whole_decay(name, earlier) and _is_whole_decay(name, now)
        )
        if name.startswith(fixed) and not is_same:
            raise InputError(
                f"{folder} holds a run with other parameters: {name} was {earlier[name]!r}, now "
                f"{now[name]!r}; go on with those, or name another folder"
            )


def _is_whole_decay(name: str, params: dict[str, Any]) -> bool:
    """Whether a parameter lets the learning rate decay over all steps of the run."""
    return name == DECAY_STEPS and params[name] in (None, 0, params["trainer.train_steps"])


def flat(params: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Full names and values of nested parameters."""
    for name, value in params.items():
        if isinstance(value, dict):
            yield from flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def write(params: config_definitions.ExperimentConfig, folder: Path, of_run: Record) -> None:
    """Writes, when a run begins or goes on, its parameters and record."""
    text = yaml.safe_dump(params.as_dict(), default_flow_style=False)
    with reading(folder):  # a full disk
        of_run.write(folder)
        write_text(folder / PARAMS_FILE, text)


def read_params(folder: str | Path) -> dict[str, Any]:
    """The parameters of the run in a folder."""
    path = Path(folder, PARAMS_FILE)
    with reading(path):
        params = yaml.safe_load(path.read_text(encoding="utf-8"))
        if not isinstance(params, dict):
            raise TypeError("holds no parameters of a run")
    return params


def require_vocabulary(folder: str | Path, named: str) -> None:
    """Raises InputError if a vocabulary has other tokens than when the run in a folder was trained.

    The run's ids would be of other words. A run of an earlier version has no checksums.
    """
    of_run = Record.read(folder)
    now = vocabulary.checksums(named)
    if of_run and of_run.vocabulary and now and now != of_run.vocabulary:
        raise InputError(
            f"{folder} holds a run with other tokens than the vocabulary {named!r} has now; "
            "accepted: the vocabulary that it was trained with (task.model.text.vocabulary)"
        )

"""`run.json` in a model folder: what a run knows of itself besides its parameters and weights."""

from pathlib import Path

import msgspec

from common import files
from common.errors import InputError

FILE = "run.json"
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


def read(folder: str | Path) -> Record | None:
    """The record of a folder; None if it has none."""
    path = Path(folder, FILE)
    try:
        return msgspec.json.decode(path.read_bytes(), type=Record)
    except FileNotFoundError:
        return None
    except msgspec.DecodeError as error:
        raise InputError(f"{path} is damaged: {error}") from error


def write(folder: str | Path, record: Record) -> None:
    """Replaces the record of a folder."""
    text = msgspec.json.format(msgspec.json.encode(record), indent=1).decode()
    files.write_text(Path(folder, FILE), f"{text}\n")

"""What a module is: `assets.extra/identity.json` inside it, from which the model card is made."""

import json
import os
import platform
import tomllib
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

import tensorflow as tf

from model.checkpoints import files as checkpoint_files
from model.checkpoints import model_dir
from model.configs import schema
from model.errors import InputError

FOLDER = "assets.extra"
IDENTITY = "identity.json"
SCORES = "scores.json"

PROJECT = "conversational-embeddings"
NEEDED = ("tensorflow", "tensorflow-text", "tensorflow-hub", "tf-keras", "setuptools")
"""Packages that loading a module needs."""
_MANIFEST = "COMPLETED"
_DATA_CARD = "data_card.json"
FROM_MANIFEST = ("encoder", "synthetic")
"""What the card says of training data besides their files: a teacher, generated or not."""


def describe(model_folder: Path, checkpoint: str) -> dict[str, Any]:
    """What a model folder tells about a module of one of its checkpoints, for JSON."""
    params = model_dir.read_params(str(model_folder))
    begun_from = params["task"].get("init_checkpoint") or None
    config = schema.DualEncoder()
    config.override(params["task"]["model"])
    return {
        "project": PROJECT,
        "version": version(),
        "encoder": config.encoder.type,
        "tasks": list(config.heads),
        "max_tokens": config.text.max_tokens,
        "step": _step(checkpoint),
        "begun_from": begun_from,
        "training_data": all_training_data(params["task"], config.heads),
        "packages": {name: metadata.version(name) for name in NEEDED},
        "machine": f"{os.cpu_count()} cores of {_processor()}, Python {platform.python_version()}",
    }


def version() -> str:
    """The version of this project."""
    try:
        return metadata.version(PROJECT)
    except metadata.PackageNotFoundError:  # a checkout that is not installed
        path = Path(__file__).parents[2] / "pyproject.toml"
        return tomllib.loads(path.read_text())["project"]["version"]


def read(module: Path) -> dict[str, Any]:
    """The identity of a module.

    Raises:
      InputError: if it is not a module of this project.
    """
    path = module / FOLDER / IDENTITY
    try:
        about = json.loads(path.read_text())
        if about["project"] != PROJECT:
            raise ValueError(f"project is {about['project']!r}")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"--module: {str(module)!r} was not written by `python -m export`: {error}"
        ) from error
    return about


def write(module: Path, about: dict[str, Any]) -> None:
    """Writes a module's identity into it."""
    path = module / FOLDER / IDENTITY
    path.write_text(json.dumps(about, indent=1, ensure_ascii=False) + "\n")


def all_training_data(task: dict[str, Any], heads: list[str]) -> list[dict[str, Any]]:
    """`training_data` of a run, and of the runs whose weights it began with, as far as known."""
    found = list(training_data(task, heads))
    seen = set()
    while (path := task.get("init_checkpoint")) and path not in seen:
        seen.add(path)
        folder = path if checkpoint_files.last(path) else os.path.dirname(path)  # noqa: PTH120
        try:
            task = model_dir.read_params(folder)["task"]
            config = schema.DualEncoder()
            config.override(task["model"])
            earlier = list(training_data(task, list(config.heads)))
        except (InputError, KeyError, TypeError, ValueError, AttributeError):
            break  # moved, or of another time: the card names the path
        found += [data for data in earlier if data not in found]
    return found


def training_data(task: dict[str, Any], heads: list[str]) -> Iterator[dict[str, Any]]:
    """The training data: task, files and, if there is one beside them, their part of the manifest.

    Of a teacher's data also the `encoder` that made them, of generated ones that they are
    `synthetic`, of conversations their `source`, such as Reddit, as the data card calls it.

    Args:
      task: the parameters `task`; the data of further tasks are under their names.
      heads: of the model.
    """
    further = [(name, task.get(name) or {}) for name in (schema.NLI, schema.TEACHER)]
    for name, data in ((heads[0], task), *further):
        path = (data.get("train_data") or {}).get("input_path") or ""
        for pattern in path.split(",") if isinstance(path, str) else path:
            if files := pattern.strip():
                yield {"task": name, "files": files, **_manifest(files), **_source(files)}


def _step(checkpoint: str) -> int | None:
    """The step at the end of a checkpoint's name."""
    number = checkpoint.rpartition("-")[2]
    return int(number) if number.isdigit() else None


def _manifest(pattern: str) -> dict[str, Any]:
    """`manifest`, the files of a pattern as COMPLETED beside them has them; `FROM_MANIFEST` too."""
    try:
        with tf.io.gfile.GFile(os.path.join(os.path.dirname(pattern), _MANIFEST)) as file:  # noqa: PTH118, PTH120
            completed = json.loads(file.read())
        names = [os.path.basename(path) for path in tf.io.gfile.glob(pattern)]  # noqa: PTH119
        found = {"manifest": {name: completed["outputs"][name] for name in sorted(names)}}
        return found | {name: completed[name] for name in FROM_MANIFEST if name in completed}
    except (tf.errors.OpError, ValueError, KeyError, TypeError):
        return {"manifest": None}


def _source(pattern: str) -> dict[str, str]:
    """`source`, what the data card beside the files of a pattern calls it, if there is one."""
    try:
        with tf.io.gfile.GFile(os.path.join(os.path.dirname(pattern), _DATA_CARD)) as file:  # noqa: PTH118, PTH120
            return {"source": json.loads(file.read())["source"]["name"]}
    except (tf.errors.OpError, ValueError, KeyError, TypeError):
        return {}


def _processor() -> str:
    """The name of the processor, if Linux has it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.machine()

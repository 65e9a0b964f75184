"""What a module is: `assets.extra/identity.json` inside it, from which the model card is made."""

import json
import os
import platform
import re
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import Any

import tensorflow as tf

from common.errors import reading
from model.checkpoints import files as checkpoint_files
from model.checkpoints import model_dir
from model.configs import schema

FOLDER = "assets.extra"
IDENTITY = "identity.json"

PROJECT = "conversational-embeddings"
NEEDED = ("tensorflow", "tensorflow-text", "tensorflow-hub", "tf-keras", "setuptools")
"""Packages that loading a module needs."""
_UNREADABLE = (tf.errors.OpError, ValueError, KeyError, TypeError, AttributeError)
"""InputError is a ValueError."""
FROM_MANIFEST = ("encoder", "synthetic")
"""What the card says of training data besides their files: a teacher, generated or not."""


def describe(model_folder: Path, checkpoint: str) -> dict[str, Any]:
    """What a model folder tells about a module of one of its checkpoints, for JSON."""
    task = model_dir.read_params(str(model_folder))["task"]
    config = schema.DualEncoder()
    config.override(task["model"])
    step = checkpoint.rpartition("-")[2]
    processors = re.findall(r"^model name\s*: (.*)", Path("/proc/cpuinfo").read_text(), re.M)
    processor = processors[0] if processors else platform.machine()
    return {
        "project": PROJECT,
        "version": version(),
        "encoder": config.encoder.type,
        "tasks": list(config.heads),
        "max_tokens": config.text.max_tokens,
        "step": int(step) if step.isdigit() else None,
        "begun_from": task.get("init_checkpoint") or None,
        "training_data": all_training_data(task, config.heads),
        "packages": {name: metadata.version(name) for name in NEEDED},
        "machine": f"{os.cpu_count()} cores of {processor}, Python {platform.python_version()}",
    }


def version() -> str:
    """The version of this project."""
    try:
        return metadata.version(PROJECT)
    except metadata.PackageNotFoundError:  # a checkout that is not installed
        path = Path(__file__).parents[2] / "pyproject.toml"
        return tomllib.loads(path.read_text())["project"]["version"]


def read(module: Path) -> dict[str, Any]:
    """The identity of a module; InputError if it is not one of this project."""
    with reading(f"--module: {module}: not written by `python -m export`"):
        about = json.loads((module / FOLDER / IDENTITY).read_text())
        if about["project"] != PROJECT:
            raise ValueError(f"of the project {about['project']!r}")
    return about


def all_training_data(task: dict[str, Any], heads: list[str]) -> list[dict[str, Any]]:
    """`training_data` of a run, and of the runs whose weights it began with, as far as known."""
    found = list(training_data(task, heads))
    seen = set()
    while (path := task.get("init_checkpoint")) and path not in seen:
        seen.add(path)
        folder = path if checkpoint_files.last(path) else os.path.dirname(path)  # noqa: PTH120
        try:
            task = model_dir.read_params(folder)["task"]
            earlier = list(training_data(task, task["model"]["heads"]))
        except _UNREADABLE:
            break  # moved, or of another time: the card names the path
        found += [data for data in earlier if data not in found]
    return found


def training_data(task: dict[str, Any], heads: list[str]) -> Iterator[dict[str, Any]]:
    """The training data of the parameters `task`: task, files, and what lies beside them.

    `manifest` has the files as COMPLETED lists them, or is None. Of a teacher's data also the
    `encoder` that made them, of generated ones that they are `synthetic`, of conversations their
    `source`, such as Reddit, as the data card calls it.
    """
    further = [(name, task.get(name) or {}) for name in (schema.NLI, schema.TEACHER)]
    for name, data in ((heads[0], task), *further):
        path = (data.get("train_data") or {}).get("input_path") or ""
        for pattern in path.split(",") if isinstance(path, str) else path:
            if not (files := pattern.strip()):
                continue
            found: dict[str, Any] = {"task": name, "files": files, "manifest": None}
            with suppress(*_UNREADABLE):
                completed = _json_beside(files, "COMPLETED")
                names = sorted(map(os.path.basename, tf.io.gfile.glob(files)))
                found["manifest"] = {name: completed["outputs"][name] for name in names}
                found |= {key: completed[key] for key in FROM_MANIFEST if key in completed}
            with suppress(*_UNREADABLE):
                found["source"] = _json_beside(files, "data_card.json")["source"]["name"]
            yield found


def _json_beside(pattern: str, name: str) -> dict[str, Any]:
    folder = os.path.dirname(pattern)  # noqa: PTH120
    return json.loads(tf.io.gfile.GFile(os.path.join(folder, name)).read())  # noqa: PTH118

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

from common.errors import InputError, reading
from model.checkpoints import files as checkpoint_files
from model.checkpoints import model_dir
from model.configs import schema

FOLDER = "assets.extra"
IDENTITY = "identity.json"
SCORES = "scores.json"

PROJECT = "conversational-embeddings"
NEEDED = ("tensorflow", "tensorflow-text", "tensorflow-hub", "tf-keras", "setuptools")
"""Packages that loading a module needs."""
_MANIFEST = "COMPLETED"
_DATA_CARD = "data_card.json"
_UNREADABLE = (tf.errors.OpError, ValueError, KeyError, TypeError)
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
    with reading(f"--module: {module}: not written by `python -m export`"):
        about = json.loads((module / FOLDER / IDENTITY).read_text())
        if about["project"] != PROJECT:
            raise ValueError(f"of the project {about['project']!r}")
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


def learned_on(tuned: Any) -> str:
    """The module whose embeddings an STS matrix was learned on, by its file; empty if it is silent.

    It cannot be told from fingerprints whether it has the weights that are exported: the matrix is
    one of the module's weights.
    """
    try:
        module = tuned["module"]
        return f"{module['path']} (fingerprint {module['fingerprint']})"
    except (TypeError, KeyError):
        return ""


def _step(checkpoint: str) -> int | None:
    """The step at the end of a checkpoint's name."""
    number = checkpoint.rpartition("-")[2]
    return int(number) if number.isdigit() else None


def _manifest(pattern: str) -> dict[str, Any]:
    """`manifest`, the files of a pattern as COMPLETED beside them has them; `FROM_MANIFEST` too."""
    try:
        completed = _json_beside(pattern, _MANIFEST)
        names = [os.path.basename(path) for path in tf.io.gfile.glob(pattern)]  # noqa: PTH119
        found = {"manifest": {name: completed["outputs"][name] for name in sorted(names)}}
        return found | {name: completed[name] for name in FROM_MANIFEST if name in completed}
    except _UNREADABLE:
        return {"manifest": None}


def _source(pattern: str) -> dict[str, str]:
    """`source`, what the data card beside the files of a pattern calls it, if there is one."""
    try:
        return {"source": _json_beside(pattern, _DATA_CARD)["source"]["name"]}
    except _UNREADABLE:
        return {}


def _json_beside(pattern: str, name: str) -> dict[str, Any]:
    folder = os.path.dirname(pattern)  # noqa: PTH120
    return json.loads(tf.io.gfile.GFile(os.path.join(folder, name)).read())  # noqa: PTH118


def _processor() -> str:
    """The name of the processor, if Linux has it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.machine()

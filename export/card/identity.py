"""What a module is, written inside it: `assets.extra/identity.json`, `params.yaml`, `scores.json`.

The model card is drawn from these.
"""

import json
import os
import platform
import tomllib
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

import tensorflow as tf

from export.module.hub_module import HubModule
from model.checkpoints import files as checkpoint_files
from model.checkpoints import model_dir
from model.configs import schema
from model.errors import InputError

FOLDER = "assets.extra"
IDENTITY = "identity.json"
SCORES = "scores.json"

PROJECT = "conversational-embeddings"
NEEDED = ("tensorflow", "tensorflow-text", "tensorflow-hub", "tf-keras", "setuptools")
"""Packages that a module is loaded with."""
_MANIFEST = "COMPLETED"


def describe(model_folder: Path, module: HubModule, *, sts_matrix: dict | None) -> dict[str, Any]:
    """What is known of a module before it is written, for JSON.

    Args:
      model_folder: what it was exported from.
      module: itself.
      sts_matrix: what is known of the tuned matrix in it, if there is one.
    """
    params = model_dir.read_params(str(model_folder))
    config = schema.DualEncoder()
    config.override(params["task"]["model"])
    return {
        "project": PROJECT,
        "version": version(),
        "variant": module.variant,
        "encoder": config.encoder.type,
        "tasks": list(config.heads),
        "max_tokens": config.text.max_tokens,
        "dim": int(module(tf.constant(["a"])).shape[-1]),
        "signatures": list(module.heads),
        "weights": sum(int(weight.shape.num_elements()) for weight in module.variables),
        "step": _step(checkpoint_files.last(str(model_folder))),
        "sts_matrix": sts_matrix,
        "training_data": list(training_data(params["task"], config.heads)),
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
    """What stands in a module.

    Raises:
      InputError: if it is no module of this project.
    """
    path = module / FOLDER / IDENTITY
    try:
        about = json.loads(path.read_text())
        if about["project"] != PROJECT:
            raise ValueError(f"project is {about['project']!r}")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"--module: {str(module)!r} is no module that `python -m export` has written: {error}"
        ) from error
    return about


def write(module: Path, about: dict[str, Any]) -> None:
    """Writes it into a module."""
    path = module / FOLDER / IDENTITY
    path.write_text(json.dumps(about, indent=1, ensure_ascii=False) + "\n")


def training_data(task: dict[str, Any], heads: list[str]) -> Iterator[dict[str, Any]]:
    """What it was trained on: task, files and, where it lies beside them, of their manifest.

    Args:
      task: the parameters of that name; a second task's data stand under `nli`.
      heads: of the model.
    """
    second = (schema.NLI, task.get("nli") or {})
    for name, data in ((heads[0], task), second):
        path = (data.get("train_data") or {}).get("input_path") or ""
        for pattern in path.split(",") if isinstance(path, str) else path:
            if files := pattern.strip():
                yield {"task": name, "files": files, "manifest": _manifest(files)}


def _step(checkpoint: str | None) -> int | None:
    """The step that a checkpoint's name ends in."""
    number = (checkpoint or "").rpartition("-")[2]
    return int(number) if number.isdigit() else None


def _manifest(pattern: str) -> dict[str, Any] | None:
    """What `python -m data_pipeline` left beside its files says of those of a pattern."""
    try:
        with tf.io.gfile.GFile(os.path.join(os.path.dirname(pattern), _MANIFEST)) as file:  # noqa: PTH118, PTH120
            outputs = json.loads(file.read())["outputs"]
        names = [os.path.basename(path) for path in tf.io.gfile.glob(pattern)]  # noqa: PTH119
        return {name: outputs[name] for name in sorted(names)}
    except (tf.errors.OpError, ValueError, KeyError, TypeError):
        return None


def _processor() -> str:
    """Its name, where Linux tells."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.machine()

"""Scores of a module, from the result files that `python -m evaluation` has written."""

import json
from pathlib import Path
from typing import Any

from common.errors import InputError, reading

TASKS = ("response_ranking", "snli", "sts", "cqa", "retrieval")
"""Those that score a module; the figures of others, as of `evaluation contamination`, are none of
its scores."""
MODULE = "module"
"""What the results of a module itself call the system that was scored."""


def read(folder: Path, *, fingerprint: str) -> list[dict[str, Any]]:
    """Reads result files: task, name, n, metrics, intervals, data, settings and notes of each.

    Passed over are results of something else than the module itself: of its embeddings after the
    matrix of `sts --tune`, or of a search engine.

    Args:
      folder: where the files are.
      fingerprint: of the module.

    Raises:
      InputError: if there is no result, or a file is none or of another module.
    """
    found = []
    for path in sorted(folder.glob("*.json")):
        with reading(f"--results: {path}: not a result of a module"):
            result = json.loads(path.read_text(encoding="utf-8"))
            is_other = result.get("system", MODULE) != MODULE or result["task"] not in TASKS
            if is_other or result["module"] is None:
                continue
            of_module: str = result["module"]["fingerprint"]
            scores = {key: result[key] for key in ("task", "name", "n", "metrics")}
            ends = result.get("intervals") or {}
            scores["intervals"] = {name: at for name, at in ends.items() if at is not None}
            scores["data"] = result["data"]["sha256"]
            scores["settings"] = result.get("settings", {})
            scores["notes"] = result.get("notes", [])
        if of_module != fingerprint:
            raise InputError(
                f"--results: {path} is about another module: its fingerprint is {of_module}, this "
                f"module's {fingerprint}; evaluate this one"
            )
        found.append(scores)
    if not found:
        raise InputError(f"--results: {str(folder)!r} holds no *.json of `python -m evaluation`")
    return found


def load(path: Path) -> list[dict[str, Any]]:
    """What `read` found, as it was written into a module; nothing if there is no such file."""
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else []


def rows(scores: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows of the card's table: one for each metric that is defined."""
    return [
        {key: score[key] for key in ("task", "name", "n", "data")}
        | {"metric": metric, "value": value, "interval": score["intervals"].get(metric)}
        for score in scores
        for metric, value in score["metrics"].items()
        if value is not None
    ]

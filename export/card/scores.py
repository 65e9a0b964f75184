"""Scores of a module, from the result files that `python -m evaluation` has written."""

import json
from pathlib import Path
from typing import Any

from common.errors import InputError, reading
from export.card.identity import FOLDER

TASKS = ("response_ranking", "snli", "sts", "cqa", "retrieval")
"""Those that score a module; `evaluation contamination` does not."""
FILE = "scores.json"
"""Below `identity.FOLDER`."""


def read(folder: Path, *, fingerprint: str) -> list[dict[str, Any]]:
    """Reads result files: task, name, n, metrics, intervals, data, settings and notes of each.

    Passed over are results of something else than the module itself: of its embeddings after the
    matrix of `sts --tune`, or of a search engine. InputError if there is no result, or a file is
    none or of a module with another fingerprint.
    """
    found = []
    for path in sorted(folder.glob("*.json")):
        with reading(f"--results: {path}: not a result of a module"):
            result = json.loads(path.read_text(encoding="utf-8"))
            is_other = result.get("system", "module") != "module" or result["task"] not in TASKS
            if is_other or result["module"] is None:
                continue
            of_module: str = result["module"]["fingerprint"]
            scores = {key: result[key] for key in ("task", "name", "n", "metrics")}
            scores["data"] = result["data"]["sha256"]
            empty: dict[str, Any] = {"intervals": {}, "settings": {}, "notes": []}
            scores |= {key: result.get(key, default) for key, default in empty.items()}
        if of_module != fingerprint:
            raise InputError(
                f"--results: {path} is about another module: its fingerprint is {of_module}, this "
                f"module's {fingerprint}; evaluate this one"
            )
        found.append(scores)
    if not found:
        raise InputError(f"--results: {str(folder)!r} holds no *.json of `python -m evaluation`")
    return found


def load(module: Path) -> list[dict[str, Any]]:
    """What `read` found, as it was written into a module; nothing if that has no scores."""
    path = module / FOLDER / FILE
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else []

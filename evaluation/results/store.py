"""Results as JSON files, read and checked, written whole or not at all."""

import dataclasses
import json
import math
from pathlib import Path

from common.errors import InputError
from common.files import write_text
from evaluation.results.result import RETRIEVAL, TASKS, Result, problem

# What other commands write as JSON, by keys that no result has: it may lie among results.
NO_RESULTS = {"report": {"tables", "results"}, "compare": {"a", "b", "differences"}}


def path_of(name: str, folder: Path) -> Path:
    """Return the path of the result of this name in a folder."""
    return folder / f"{name}.json"


def write(result: Result, folder: Path) -> Path:
    """Write `<name>.json` into the folder and return its path."""
    path = path_of(result.name, folder)
    content = json.dumps(
        defined(dataclasses.asdict(result)), indent=1, ensure_ascii=False, allow_nan=False
    )
    write_text(path, content + "\n")
    return path


def defined(value):
    """Return the value with every NaN, which JSON does not have, as None."""
    if isinstance(value, dict):
        return {key: defined(item) for key, item in value.items()}
    if isinstance(value, list):
        return [defined(item) for item in value]
    return None if isinstance(value, float) and math.isnan(value) else value


def read(path: Path) -> Result:
    """Read one result file.

    Raises:
      InputError: if it is none; the message names the key that is missing or has another type.
    """
    return _parsed(_loaded(path), path)


def read_results(folder: str | Path) -> list[Result]:
    """Read every result in the folder, in the paper's order of tasks, then by name.

    The JSON files of `report` and `compare` are passed over, so that their output may be in the
    folder too. Every other file must be a result, each of its own name.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder of results")
    loaded = {path: _loaded(path) for path in sorted(folder.glob("*.json"))}
    found: dict[str, tuple[Path, Result]] = {}
    for path, content in loaded.items():
        if written_by(content):
            continue
        result = _parsed(content, path)
        if result.name in found:
            other, _ = found[result.name]
            raise InputError(f"{path}: a result named {result.name}, as {other.name} is; keep one")
        found[result.name] = path, result
    if not found:
        raise InputError(f"{folder}: no results here (files *.json are needed)")
    order = {task: position for position, task in enumerate((*TASKS, RETRIEVAL))}
    results = (result for _, result in found.values())
    return sorted(results, key=lambda result: (order.get(result.task, len(order)), result.name))


def written_by(content: object) -> str | None:
    """Return which command writes such JSON files, where they are no results."""
    if not isinstance(content, dict):
        return None
    found = (command for command, keys in NO_RESULTS.items() if keys <= content.keys())
    return next(found, None)


def check_replaceable(path: Path, command: str) -> None:
    """Raise InputError where a command's JSON file would replace what it did not write.

    A result, what another command wrote, and a file of somebody else are kept.
    """
    if not path.exists() or not path.stat().st_size:
        return
    try:
        own = written_by(_loaded(path)) == command
    except InputError:
        own = False
    if not own:
        raise InputError(f"{path}: there already, and not written by {command}; it is kept")


def _loaded(path: Path) -> object:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: not a result of this program ({error})") from error


def _parsed(content: object, path: Path) -> Result:
    if wrong := problem(content):
        raise InputError(f"{path}: not a result of this program: {wrong}")
    try:
        return Result(**content)  # type: ignore[arg-type]
    except TypeError as error:
        raise InputError(f"{path}: not a result of this program ({error})") from error

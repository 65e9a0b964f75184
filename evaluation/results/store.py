"""Results as JSON files, read and checked, written whole or not at all."""

import dataclasses
import math
from pathlib import Path

import msgspec

from common.errors import InputError
from common.files import write_json
from evaluation.results.result import RETRIEVAL, TASKS, Result, checked

# What other commands write as JSON, by keys that no result has: it may lie among results.
NO_RESULTS = {"report": {"tables", "results"}, "compare": {"a", "b", "differences"}}


def path_of(name: str, folder: Path) -> Path:
    """Return the path of the result of this name in a folder."""
    return folder / f"{name}.json"


def write(result: Result, folder: Path) -> Path:
    """Write `<name>.json` into the folder and return its path."""
    path = path_of(result.name, folder)
    write_json(path, defined(dataclasses.asdict(result)))
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
    found: dict[str, Result] = {}
    for path in sorted(folder.glob("*.json")):
        content = _loaded(path)
        if not _written_by(content):
            result = _parsed(content, path)
            if result.name in found:
                raise InputError(f"{path}: a second result named {result.name}; keep one")
            found[result.name] = result
    if not found:
        raise InputError(f"{folder}: no results here (files *.json are needed)")
    order = {task: position for position, task in enumerate((*TASKS, RETRIEVAL))}
    return sorted(found.values(), key=lambda one: (order.get(one.task, len(order)), one.name))


def _written_by(content: object) -> str | None:
    """Return which command writes such JSON files, where they are no results."""
    keys = content.keys() if isinstance(content, dict) else set()
    return next((command for command, own in NO_RESULTS.items() if own <= keys), None)


def check_replaceable(path: Path, command: str) -> None:
    """Raise InputError where a command's JSON file would replace what it did not write.

    A result, what another command wrote, and a file of somebody else are kept.
    """
    try:
        own = not path.exists() or _written_by(_loaded(path)) == command
    except InputError:
        own = not path.stat().st_size
    if not own:
        raise InputError(f"{path}: there already, and not written by {command}; it is kept")


def _loaded(path: Path) -> object:
    try:
        return msgspec.json.decode(path.read_bytes())
    except (msgspec.DecodeError, RecursionError) as error:
        raise InputError(f"{path}: not a result of this program ({error})") from error


def _parsed(content: object, path: Path) -> Result:
    try:
        return checked(content)
    except msgspec.ValidationError as error:
        raise InputError(f"{path}: not a result of this program: {error}") from error

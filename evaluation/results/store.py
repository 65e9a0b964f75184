"""Results as JSON files, read and checked, written whole or not at all."""

from pathlib import Path

import msgspec

from common.errors import InputError
from common.files import write_json
from evaluation.results.result import RETRIEVAL, TASKS, Result, checked

OWN_KEY = {"report": "tables", "compare": "differences"}
"""A key of what these commands write as JSON, which no result has: it may lie among results."""


def path_of(name: str, folder: Path) -> Path:
    """Return the path of the result of this name in a folder."""
    return folder / f"{name}.json"


def write(result: Result, folder: Path) -> Path:
    """Write `<name>.json` into the folder and return its path."""
    path = path_of(result.name, folder)
    write_json(path, defined(result))
    return path


def defined(value: object) -> object:
    """Return the value as JSON has it, with None for NaN."""
    return msgspec.json.decode(msgspec.json.encode(value))


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
        if isinstance(content, dict) and not content.keys().isdisjoint(OWN_KEY.values()):
            continue
        result = _parsed(content, path)
        if result.name in found:
            raise InputError(f"{path}: a second result named {result.name}; keep one")
        found[result.name] = result
    if not found:
        raise InputError(f"{folder}: no results here (files *.json are needed)")
    order = {task: position for position, task in enumerate((*TASKS, RETRIEVAL))}
    return sorted(found.values(), key=lambda one: (order.get(one.task, len(order)), one.name))


def check_replaceable(path: Path, command: str) -> None:
    """Raise InputError where a command's JSON file would replace what it did not write.

    A result, what another command wrote, and a file of somebody else are kept.
    """
    if not path.exists():
        return
    try:
        content = _loaded(path)
    except InputError:
        content = None
    if not isinstance(content, dict) or OWN_KEY[command] not in content:
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

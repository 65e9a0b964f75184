"""What a task found, with everything needed to find it again, as one JSON file."""

import dataclasses
import json
import math
import platform
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path

from evaluation.data.files import write_whole
from evaluation.errors import InputError
from evaluation.results import schema

TASKS = ("response_ranking", "snli", "sts", "cqa")
# What other commands write as JSON, by keys that no result has: it may lie among results.
NO_RESULTS = {"report": {"tables", "results"}, "compare": {"a", "b", "differences"}}
Metrics = Mapping[str, float | None]
Intervals = Mapping[str, list[float]]

PACKAGES = ("tensorflow", "tensorflow-text", "numpy", "scipy")


@dataclass(frozen=True, kw_only=True)
class Result:
    """One task on one data set.

    A task fills the first block, but for the intervals, which `per_item.with_intervals` adds;
    `stamped` adds the second, where the figures come from.
    All figures are fractions (correlations in [-1, 1], the others in [0, 1]); None stands
    for a figure that is undefined, such as the correlation of a single pair. Intervals are
    [low, high], 95%; a figure without one was not resampled.
    """

    task: str
    name: str
    system: str  # "module", or what was scored where the data hold no text
    metrics: Metrics
    n: int  # pairs; queries for cqa
    intervals: Intervals = field(default_factory=dict)
    groups: dict[str, dict] = field(default_factory=dict)  # name -> n, metrics, intervals
    baselines: Mapping[str, Metrics] = field(default_factory=dict)
    baseline_intervals: Mapping[str, Intervals] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    settings: Mapping[str, float] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)  # sentences: what must be known to read it
    items: list[dict] = field(default_factory=list)

    data: dict = field(default_factory=dict)
    module: dict | None = None
    versions: dict[str, str] = field(default_factory=dict)
    command: str = ""
    seconds: float = 0.0


def stamped(
    result: Result, *, data: dict, module: dict | None, command: str, seconds: float
) -> Result:
    """Return the result with its provenance."""
    versions = {"python": platform.python_version()}
    versions |= {name.replace("-", "_"): metadata.version(name) for name in PACKAGES}
    return dataclasses.replace(
        result,
        data=data,
        module=module,
        versions=versions,
        command=command,
        seconds=round(seconds, 3),
    )


def path_of(name: str, folder: Path) -> Path:
    """Return where the result of this name stands in a folder."""
    return folder / f"{name}.json"


def write(result: Result, folder: Path) -> Path:
    """Write `<name>.json` into the folder and return its path."""
    path = path_of(result.name, folder)
    text = json.dumps(
        _defined(dataclasses.asdict(result)), indent=1, ensure_ascii=False, allow_nan=False
    )
    write_whole(path, text + "\n")
    return path


def _defined(value):
    """Return the value with every NaN, which JSON does not have, as None."""
    if isinstance(value, dict):
        return {key: _defined(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_defined(item) for item in value]
    return None if isinstance(value, float) and math.isnan(value) else value


def read(path: Path) -> Result:
    """Read one result file.

    Raises:
      InputError: if it is none; the message names the key that is missing or has another type.
    """
    return _parsed(_loaded(path), path)


def read_all(folder: Path) -> list[Result]:
    """Read every result in the folder, in the paper's order of tasks, then by name.

    The JSON files of `report` and `compare` are passed over, so that their output may be in the
    folder too. Every other file must be a result, each of its own name.
    """
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder of results")
    loaded = {path: _loaded(path) for path in sorted(folder.glob("*.json"))}
    paths: dict[str, Path] = {}
    results = []
    for path, content in loaded.items():
        if written_by(content):
            continue
        found = _parsed(content, path)
        if found.name in paths:
            raise InputError(
                f"{path}: a result named {found.name}, as {paths[found.name].name} is; keep one"
            )
        paths[found.name] = path
        results.append(found)
    if not results:
        raise InputError(f"{folder}: no results here (files *.json are needed)")
    return sorted(results, key=lambda result: (_place(result.task), result.name))


def written_by(content: object) -> str | None:
    """Return which command writes such JSON files, where they are no results."""
    if not isinstance(content, dict):
        return None
    found = (command for command, keys in NO_RESULTS.items() if keys <= content.keys())
    return next(found, None)


def replaces_own(path: Path, command: str) -> None:
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
    if wrong := schema.problem(content):
        raise InputError(f"{path}: not a result of this program: {wrong}")
    try:
        return Result(**content)  # type: ignore[arg-type]
    except TypeError as error:
        raise InputError(f"{path}: not a result of this program ({error})") from error


def _place(task: str) -> int:
    """Return where a task stands in the paper; what it does not have comes last."""
    return TASKS.index(task) if task in TASKS else len(TASKS)

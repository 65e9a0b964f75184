"""What a task found, with everything needed to find it again, as one JSON file."""

import dataclasses
import json
import math
import platform
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path

from evaluation.errors import InputError
from evaluation.files import write_whole

TASKS = ("response_ranking", "snli", "sts", "cqa")
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
    """Read one result file."""
    try:
        fields = json.loads(path.read_text(encoding="utf-8"))
        return Result(**fields)
    except (ValueError, TypeError) as error:
        raise InputError(f"{path}: not a result of this program ({error})") from error


def read_all(folder: Path) -> list[Result]:
    """Read every result in the folder, in the paper's order of tasks, then by name."""
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder of results")
    paths = sorted(folder.glob("*.json"))
    if not paths:
        raise InputError(f"{folder}: no results here (files *.json are needed)")
    results = [read(path) for path in paths]
    return sorted(results, key=lambda result: (_place(result.task), result.name))


def _place(task: str) -> int:
    """Return where a task stands in the paper; what it does not have comes last."""
    return TASKS.index(task) if task in TASKS else len(TASKS)

"""The result of one task on one data set, with what is needed to reproduce it."""

import dataclasses
import platform
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import metadata

TASKS = ("response_ranking", "snli", "sts", "cqa")
Metrics = Mapping[str, float | None]
Intervals = Mapping[str, list[float]]

PACKAGES = ("tensorflow", "tensorflow-text", "numpy", "scipy")


@dataclass(frozen=True, kw_only=True)
class Result:
    """The result of one task on one data set.

    A task fills the first block, but for the intervals, which `measure.with_intervals` adds;
    `stamped` adds the second, where the metrics come from. All metrics are fractions
    (correlations in [-1, 1], the others in [0, 1]); None is an undefined one, such as the
    correlation of a single pair. Intervals are [low, high], 95%; a metric without one was not
    resampled.
    """

    task: str
    name: str
    system: str  # "module"; or search_engine, where the data hold no text
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

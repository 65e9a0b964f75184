"""The result of one task on one data set, with what is needed to reproduce it."""

import dataclasses
import platform
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import metadata
from typing import Annotated, Any, Literal, NotRequired, TypedDict

import msgspec
from msgspec import Meta

TASKS = ("response_ranking", "snli", "sts", "cqa")
"""Those of the paper; their data are a file or a folder."""
RETRIEVAL = "retrieval"
"""Retrieval on the user's own data: three files."""
TUNED, IN_CONTEXT = "-tuned", "-in-context"
VARIANTS = {TUNED: ", tuned", IN_CONTEXT: ", in context"}
"""Suffixes of the names of further results on the same items, and of the labels of their rows."""
MAIN = ("ndcg_at_10", "map", "pearson", "accuracy")
"""The main metrics of retrieval, cqa, sts and snli; a result with an earlier one may have more."""
Figure = float | None
Metrics = Mapping[str, Figure]
Intervals = Mapping[str, Annotated[list[float], Meta(min_length=2, max_length=2)]]
Count = Annotated[int, Meta(ge=0)]

PACKAGES = ("tensorflow", "tensorflow-text", "numpy", "scipy")


class Group(TypedDict):
    """The scores of a part of the items, such as a genre."""

    n: Count
    metrics: Metrics
    intervals: NotRequired[Intervals]


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
    n: Count  # pairs; queries for cqa and retrieval
    intervals: Intervals = field(default_factory=dict)
    groups: Mapping[str, Group] = field(default_factory=dict)
    baselines: Mapping[str, Metrics] = field(default_factory=dict)
    baseline_intervals: Mapping[str, Intervals] = field(default_factory=dict)
    counts: dict[str, Count] = field(default_factory=dict)
    settings: Mapping[str, bool | int | float | str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)  # sentences: what must be known to read it
    items: list[dict] = field(default_factory=list)

    data: dict = field(default_factory=dict)
    module: dict | None = None
    versions: dict[str, str] = field(default_factory=dict)
    command: str = ""
    seconds: float = 0.0


def data_name(name: str) -> str:
    """Return the name of a result without a suffix of `VARIANTS`."""
    for end in VARIANTS:
        name = name.removesuffix(end)
    return name


def main_metric(metrics: Metrics) -> str | None:
    """Return the name of the metric by which a result is known: the lowest P@N, or one of `MAIN`.

    None if it has none of these.
    """
    precisions = [name for name in metrics if name.startswith("p_at_")]
    first = min(precisions, key=lambda name: int(name.rsplit("_", 1)[1]), default=None)
    return first or next((name for name in MAIN if name in metrics), None)


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


def checked(content: Any) -> Result:
    """Return what a result file holds.

    Raises:
      msgspec.ValidationError: if a key that the report or a comparison reads is missing or has
        another type; the message says where.
    """
    result = msgspec.convert(content, Result)
    msgspec.convert(content, _Task)
    msgspec.convert(content, _OF_TASK.get(result.task, Any))
    return result


def _record(needed: Mapping[str, Any], optional: Mapping[str, Any] | None = None) -> Any:
    """Return the type of a JSON object with these keys; others are ignored."""
    of: list[Any] = [
        *needed.items(),
        *((name, kind, None) for name, kind in (optional or {}).items()),
    ]
    return msgspec.defstruct("Record", of)


def _scored(metrics: Any, item: Mapping[str, Any], baseline: Any, **more: Any) -> Any:
    items = list[_record(item, {"baselines": dict[str, baseline]})]  # type: ignore[misc, valid-type]
    return _record({"metrics": metrics, **more}, {"items": items})


_SCORE = {"gold": float, "score": float, "genre": str, "sentence1": str, "sentence2": str}
_PRECISION = Annotated[str, Meta(pattern=r"^p_at_[1-9]\d*$")]
_OF_TASK: dict[str, Any] = {
    "sts": _scored(_record({"pearson": Figure}), _SCORE, float),
    "snli": _scored(_record({"accuracy": Figure}), {"gold": str, "predicted": str}, str),
    "response_ranking": _scored(
        Annotated[dict[_PRECISION, Figure], Meta(min_length=1)], {"rank": int, "block": int}, int
    ),
    "cqa": _scored(
        _record({"map": Figure}),
        {"query_id": str, "candidate_id": str, "relevant": bool, "score": float},
        float,
    ),
    RETRIEVAL: _scored(
        _record({"ndcg_at_10": Figure}),
        {"query_id": str, "metrics": dict[str, Figure]},
        dict[str, Figure],
        counts=_record({"documents": int}),
    ),
    "contamination": _record(
        {"counts": _record({"pairs_in_training": int, "texts_in_training": int})}
    ),
    "mistakes": Any,
    "sts_regression": _record(
        {"settings": _record({"row": str, "label": str, "folds_by": str, "folds": int})}
    ),
}
"""What the results of each task hold besides the fields of `Result`."""
_Task = _record(
    {"task": Literal[tuple(_OF_TASK)]},  # type: ignore[valid-type]
    {"module": _record({"path": str, "fingerprint": str}) | None},
)

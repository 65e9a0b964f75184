"""The result of one task on one data set, with what is needed to reproduce it.

Below it, the schema of its JSON file: which keys there are, and the type of each.
"""

import dataclasses
import json
import math
import platform
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import metadata
from typing import Any

TASKS = ("response_ranking", "snli", "sts", "cqa")
"""Those of the paper; their data are a file or a folder."""
RETRIEVAL = "retrieval"
"""Retrieval on the user's own data: three files."""
TUNED, IN_CONTEXT = "-tuned", "-in-context"
VARIANTS = {TUNED: ", tuned", IN_CONTEXT: ", in context"}
"""Suffixes of the names of further results on the same items, and of the labels of their rows."""
MAIN = ("ndcg_at_10", "map", "pearson", "accuracy")
"""The main metrics of retrieval, cqa, sts and snli; a result with an earlier one may have more."""
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
    n: int  # pairs; queries for cqa and retrieval
    intervals: Intervals = field(default_factory=dict)
    groups: dict[str, dict] = field(default_factory=dict)  # name -> n, metrics, intervals
    baselines: Mapping[str, Metrics] = field(default_factory=dict)
    baseline_intervals: Mapping[str, Intervals] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
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


@dataclass(frozen=True)
class Value:
    """A JSON value without parts, and its type in words."""

    words: str
    fits: Callable[[Any], bool]

    def wrong(self, value: Any) -> "Wrong | None":
        """Return what is wrong with a value; None where it fits."""
        return None if self.fits(value) else _needed(self.words, value)


@dataclass(frozen=True)
class Each:
    """A JSON object or list whose values are all of one kind."""

    of: "Kind"
    container: type[dict] | type[list] = dict

    def wrong(self, value: Any) -> "Wrong | None":
        """Return what is wrong with the first value that does not fit; None where all fit."""
        if not isinstance(value, self.container):
            return _needed("an object" if self.container is dict else "a list", value)
        for key, one in value.items() if isinstance(value, dict) else enumerate(value):
            if wrong := self.of.wrong(one):
                return wrong.below(key)
        return None


@dataclass(frozen=True)
class Record:
    """A JSON object with named keys; other keys are ignored."""

    needed: Mapping[str, "Kind"] = field(default_factory=dict)
    optional: Mapping[str, "Kind"] = field(default_factory=dict)

    def wrong(self, value: Any) -> "Wrong | None":
        """Return what is wrong with the first key that does not fit; None where all fit."""
        if not isinstance(value, dict):
            return _needed("an object", value)
        for kinds in (self.needed, self.optional):
            for key, kind in kinds.items():
                if key not in value:
                    if kinds is self.needed:
                        return Wrong([key], "is missing")
                elif wrong := kind.wrong(value[key]):
                    return wrong.below(key)
        return None


Kind = Value | Each | Record


@dataclass(frozen=True)
class Wrong:
    """The keys that lead to a value, and what is wrong with it."""

    keys: list[str]
    why: str

    def below(self, key: str | int) -> "Wrong":
        """Return the same, where the value is a part of another."""
        return Wrong([str(key), *self.keys], self.why)


def _needed(words: str, value: Any) -> Wrong:
    return Wrong([], f"is {_shown(value)}; {words} is needed")


def _shown(value: Any) -> str:
    """Return a value as an error names it: short."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 40 else f"{text[:40]}..."


def _is_number(value: Any) -> bool:
    return type(value) is int or (type(value) is float and math.isfinite(value))


def _are_precisions(value: Any) -> bool:
    return bool(value) and all(re.fullmatch(r"p_at_[1-9]\d*", name) for name in value)


TEXT = Value("text", lambda value: isinstance(value, str))
NUMBER = Value("a number", _is_number)
COUNT = Value("a whole number of at least 0", lambda value: type(value) is int and value >= 0)
FIGURE = Value("a number or null", lambda value: value is None or _is_number(value))
SETTING = Value(
    "a number or text", lambda value: isinstance(value, bool | str) or _is_number(value)
)
TRUTH = Value("true or false", lambda value: isinstance(value, bool))
INTERVAL = Value(
    "a list of two numbers",
    lambda value: isinstance(value, list) and len(value) == 2 and all(map(_is_number, value)),
)
MAYBE_INTERVAL = Value(
    "a list of two numbers or null", lambda value: value is None or INTERVAL.fits(value)
)
PRECISIONS = Value("one figure or more, each called p_at_N,", _are_precisions)
INTERVALS, METRICS = Each(INTERVAL), Each(FIGURE)
GROUP = Record({"n": COUNT, "metrics": METRICS}, {"intervals": INTERVALS})

RESULT = Record(
    {"task": TEXT, "name": TEXT, "system": TEXT, "metrics": METRICS, "n": COUNT},
    {
        "intervals": INTERVALS,
        "groups": Each(GROUP),
        "baselines": Each(METRICS),
        "baseline_intervals": Each(INTERVALS),
        "counts": Each(COUNT),
        "settings": Each(SETTING),
        "notes": Each(TEXT, list),
        "items": Each(Record(), list),
        "data": Record(optional={"file": TEXT, "sha256": TEXT, "learned_from": Record()}),
        "versions": Each(TEXT),
        "command": TEXT,
        "seconds": NUMBER,
    },
)
MODULE = Record({"path": TEXT, "fingerprint": TEXT})


def _items(item: Kind) -> Record:
    return Record(optional={"items": Each(item, list)})


def _scored(*figures: str) -> Record:
    return Record({"metrics": Record(dict.fromkeys(figures, FIGURE))})


_POINT = Record(
    {
        "pearson": FIGURE,
        "interval": MAYBE_INTERVAL,
        "captions": FIGURE,
        "captions_interval": MAYBE_INTERVAL,
    }
)
_STS_ITEM = Record(
    {"gold": NUMBER, "score": NUMBER, "genre": TEXT, "sentence1": TEXT, "sentence2": TEXT},
    {"baselines": Each(NUMBER)},
)
_NLI_ITEM = Record({"gold": TEXT, "predicted": TEXT}, {"baselines": Each(TEXT)})
_RANKING_ITEM = Record({"rank": COUNT}, {"baselines": Each(COUNT)})
_CQA_ITEM = Record(
    {"query_id": TEXT, "candidate_id": TEXT, "relevant": TRUTH, "score": NUMBER},
    {"baselines": Each(NUMBER)},
)
_RETRIEVAL_ITEM = Record({"query_id": TEXT, "metrics": METRICS}, {"baselines": Each(METRICS)})
_OF_TRAINING: dict[str, Kind] = {
    "epoch_share": NUMBER,
    "learning_rate": NUMBER,
    "units": COUNT,
    "clip_norm": NUMBER,
    "gates": TEXT,
}
"""Settings of a regressor that was trained, for so many `epochs`."""
OF_TASK: dict[str, tuple[Record, ...]] = {
    "sts": (_scored("pearson"), _items(_STS_ITEM)),
    "snli": (_scored("accuracy"), _items(_NLI_ITEM)),
    "response_ranking": (Record({"metrics": PRECISIONS}), _items(_RANKING_ITEM)),
    "cqa": (_scored("map"), _items(_CQA_ITEM)),
    RETRIEVAL: (
        _scored("ndcg_at_10"),
        Record({"counts": Record({"documents": COUNT})}),
        _items(_RETRIEVAL_ITEM),
    ),
    "snli_sweep": (_items(Record({"share": NUMBER, "dev": _POINT, "test": _POINT})),),
    "contamination": (
        Record({"counts": Record({"pairs_in_training": COUNT, "texts_in_training": COUNT})}),
    ),
    "mistakes": (),
    "sts_regression": (
        Record(
            {
                "settings": Record(
                    {"row": TEXT, "label": TEXT, "folds_by": TEXT, "folds": COUNT}, _OF_TRAINING
                ),
                "counts": Record(
                    {
                        "pairs_held_out_with_a_sentence_that_trains": COUNT,
                        "folds_that_diverged": COUNT,
                        "folds_without_a_correlation": COUNT,
                    }
                ),
                "data": Record(
                    {"word_vectors": TEXT, "word_dim": COUNT},
                    {
                        "tests": Each(
                            Record({"pairs": COUNT, "pairs_with_a_sentence_that_trains": COUNT})
                        )
                    },
                ),
            }
        ),
    ),
}
"""What the results of each task hold besides `RESULT`."""


def problem(result: Any) -> str | None:
    """Return the first thing that is wrong with what a result file holds: the key, and why."""
    wrong = RESULT.wrong(result)
    if wrong is None and result["task"] not in OF_TASK:
        wrong = Wrong(["task"], f"is {_shown(result['task'])}; {', '.join(OF_TASK)} are accepted")
    if wrong is None:
        wrong = next(filter(None, (kind.wrong(result) for kind in _kinds(result))), None)
    return f"{'.'.join(wrong.keys) or 'all of it'} {wrong.why}" if wrong else None


def _kinds(result: dict) -> Iterator[Record]:
    """Yield what this result must be besides `RESULT`."""
    yield from OF_TASK[result["task"]]
    if result.get("module") is not None:
        yield Record({"module": MODULE})
    thresholds = [name for name in result.get("settings", {}) if name.endswith("threshold")]
    if thresholds:
        yield Record({"settings": Record(dict.fromkeys(thresholds, NUMBER))})
    if "epochs" in result.get("settings", {}):
        yield Record({"settings": Record(_OF_TRAINING)})
    if result["task"] == "mistakes":
        figures = Record(dict.fromkeys(result["metrics"], FIGURE))
        yield Record(optional={"groups": Each(Record({"metrics": figures}))})

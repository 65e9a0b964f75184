"""What a result file holds, key by key, so that what reads one may rely on it."""

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Value:
    """Something without parts, and what it is in words."""

    words: str
    fits: Callable[[Any], bool]


@dataclass(frozen=True)
class Record:
    """A JSON object with keys of its own; keys besides these are not looked at."""

    needed: Mapping[str, "Kind"] = field(default_factory=dict)
    optional: Mapping[str, "Kind"] = field(default_factory=dict)


@dataclass(frozen=True)
class Each:
    """A JSON object or list, all of whose values are of one kind."""

    of: "Kind"
    container: type[dict] | type[list] = dict


Kind = Value | Record | Each


def _is_number(value: Any) -> bool:
    return type(value) is int or (type(value) is float and math.isfinite(value))


TEXT = Value("text", lambda value: isinstance(value, str))
NUMBER = Value("a number", _is_number)
COUNT = Value("a whole number from 0 on", lambda value: type(value) is int and value >= 0)
FIGURE = Value("a number or null", lambda value: value is None or _is_number(value))
SETTING = Value(
    "a number or text", lambda value: isinstance(value, bool | str) or _is_number(value)
)
TRUTH = Value("true or false", lambda value: isinstance(value, bool))
ANYTHING = Value("anything", lambda value: True)
INTERVAL = Value(
    "a list of two numbers",
    lambda value: isinstance(value, list) and len(value) == 2 and all(map(_is_number, value)),
)
MAYBE_INTERVAL = Value(
    "a list of two numbers or null", lambda value: value is None or INTERVAL.fits(value)
)
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
OF_TASK: dict[str, tuple[Record, ...]] = {
    "sts": (_scored("pearson"), _items(_STS_ITEM)),
    "snli": (_scored("accuracy"), _items(_NLI_ITEM)),
    "response_ranking": (_items(_RANKING_ITEM),),
    "cqa": (_scored("map"), _items(_CQA_ITEM)),
    "snli_sweep": (_items(Record({"share": NUMBER, "dev": _POINT, "test": _POINT})),),
    "contamination": (
        Record({"counts": Record({"pairs_in_training": COUNT, "texts_in_training": COUNT})}),
    ),
    "mistakes": (),
    "sts_regression": (
        Record(
            {
                "settings": Record(
                    {"row": TEXT, "label": TEXT, "folds_by": TEXT, "folds": COUNT},
                    {
                        "epoch_share": NUMBER,
                        "learning_rate": NUMBER,
                        "units": COUNT,
                        "clip_norm": NUMBER,
                        "gates": TEXT,
                    },
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
"""What a task's results hold besides."""


def problem(result: Any) -> str | None:
    """Return the first thing that is wrong with what a result file holds: the key, and why."""
    return next(_problems(result), None)


def _problems(result: Any) -> Iterator[str]:
    yield from _wrong(result, RESULT, "")
    if result["task"] not in OF_TASK:
        yield f"task is {_shown(result['task'])}; {', '.join(OF_TASK)} are accepted"
    if result.get("module") is not None:
        yield from _wrong(result["module"], MODULE, "module")
    for kind in OF_TASK[result["task"]]:
        yield from _wrong(result, kind, "")
    if result["task"] == "response_ranking":
        yield from _wrong_precisions(result["metrics"])
    for name, value in result.get("settings", {}).items():
        if name.endswith("threshold"):
            yield from _wrong(value, NUMBER, f"settings.{name}")
    for name, group in result.get("groups", {}).items():
        if result["task"] == "mistakes" and (lost := result["metrics"].keys() - group["metrics"]):
            yield f"groups.{name}.metrics.{min(lost)} is missing"


def _wrong_precisions(metrics: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is no P@N."""
    if not metrics:
        yield "metrics.p_at_1 is missing"
    for name in metrics:
        if not re.fullmatch(r"p_at_[1-9]\d*", name):
            yield f"metrics.{name}: no figure of response_ranking, p_at_N"


def _wrong(value: Any, kind: Kind, place: str) -> Iterator[str]:
    """Yield whatever a value has that is not of this kind."""
    match kind:
        case Value():
            if not kind.fits(value):
                yield f"{place} is {_shown(value)}; {kind.words} is needed"
        case Each():
            if not isinstance(value, kind.container):
                needed = "an object" if kind.container is dict else "a list"
                yield f"{place} is {_shown(value)}; {needed} is needed"
                return
            for key, one in value.items() if isinstance(value, dict) else enumerate(value):
                if isinstance(kind.of, Value) and kind.of.fits(one):
                    continue
                yield from _wrong(one, kind.of, f"{place}.{key}")
        case Record():
            if not isinstance(value, dict):
                yield f"{place or 'all of it'} is {_shown(value)}; an object is needed"
                return
            for key in kind.needed:
                if key not in value:
                    yield f"{_under(place, key)} is missing"
            for keys in (kind.needed, kind.optional):
                for key, of in keys.items():
                    if key in value and not (isinstance(of, Value) and of.fits(value[key])):
                        yield from _wrong(value[key], of, _under(place, key))


def _under(place: str, key: str) -> str:
    return f"{place}.{key}" if place else key


def _shown(value: Any) -> str:
    """Return a value as an error names it: short."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 40 else f"{text[:40]}..."

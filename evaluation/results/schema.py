"""The schema of a result file: which keys it has, and the type of each."""

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Value:
    """A value without parts, and its type in words."""

    words: str
    fits: Callable[[Any], bool]


@dataclass(frozen=True)
class Record:
    """A JSON object with named keys; other keys are ignored."""

    needed: Mapping[str, "Kind"] = field(default_factory=dict)
    optional: Mapping[str, "Kind"] = field(default_factory=dict)


@dataclass(frozen=True)
class Each:
    """A JSON object or list whose values are all of one kind."""

    of: "Kind"
    container: type[dict] | type[list] = dict


Kind = Value | Record | Each


def _is_number(value: Any) -> bool:
    return type(value) is int or (type(value) is float and math.isfinite(value))


def _are_precisions(value: Any) -> bool:
    return bool(value) and all(re.fullmatch(r"p_at_[1-9]\d*", name) for name in value)


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
OF_TASK: dict[str, tuple[Record, ...]] = {
    "sts": (_scored("pearson"), _items(_STS_ITEM)),
    "snli": (_scored("accuracy"), _items(_NLI_ITEM)),
    "response_ranking": (Record({"metrics": PRECISIONS}), _items(_RANKING_ITEM)),
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
"""What the results of each task hold besides `RESULT`."""


def problem(result: Any) -> str | None:
    """Return the first thing that is wrong with what a result file holds: the key, and why."""
    wrong = _wrong(result, RESULT)
    if wrong is None and result["task"] not in OF_TASK:
        wrong = Wrong(["task"], f"is {_shown(result['task'])}; {', '.join(OF_TASK)} are accepted")
    if wrong is None:
        checks = (_wrong(result, kind) for kind in _kinds(result))
        wrong = next(filter(None, checks), None)
    if wrong is None:
        return None
    return f"{'.'.join(wrong.keys) or 'all of it'} {wrong.why}"


def _kinds(result: dict) -> Iterator[Record]:
    """Yield what this result must be besides `RESULT`."""
    yield from OF_TASK[result["task"]]
    if result.get("module") is not None:
        yield Record({"module": MODULE})
    thresholds = [name for name in result.get("settings", {}) if name.endswith("threshold")]
    if thresholds:
        yield Record({"settings": Record(dict.fromkeys(thresholds, NUMBER))})
    if result["task"] == "mistakes":
        figures = Record(dict.fromkeys(result["metrics"], FIGURE))
        yield Record(optional={"groups": Each(Record({"metrics": figures}))})


@dataclass(frozen=True)
class Wrong:
    """The keys that lead to a value, and what is wrong with it."""

    keys: list[str]
    why: str


def _wrong(value: Any, kind: Kind) -> Wrong | None:
    """Return the first thing of a value that is not of this kind."""
    match kind:
        case Value():
            fits, words = kind.fits(value), kind.words
        case Each():
            fits = isinstance(value, kind.container)
            words = "an object" if kind.container is dict else "a list"
        case Record():
            fits, words = isinstance(value, dict), "an object"
    if not fits:
        return Wrong([], f"is {_shown(value)}; {words} is needed")
    if isinstance(kind, Each) and isinstance(kind.of, Record):
        rows = list(value.values() if isinstance(value, dict) else value)
        if _all_fit(rows, kind.of):
            return None
    for key, one, of in _parts(value, kind):
        if isinstance(of, Value) and of.fits(one):
            continue
        if wrong := MISSING if one is _NOTHING else _wrong(one, of):
            return Wrong([str(key), *wrong.keys], wrong.why)
    return None


def _all_fit(rows: list, kind: Record) -> bool:
    """Say whether all rows of a list fit, column by column: there may be a million."""
    if not all(isinstance(row, dict) for row in rows):
        return False
    columns = [([row.get(key, _NOTHING) for row in rows], of) for key, of in kind.needed.items()]
    columns += [([row[key] for row in rows if key in row], of) for key, of in kind.optional.items()]
    return all(
        all(map(of.fits, column))
        if isinstance(of, Value)
        else all(one is not _NOTHING and _wrong(one, of) is None for one in column)
        for column, of in columns
    )


_NOTHING = object()
MISSING = Wrong([], "is missing")


def _parts(value: Any, kind: Kind) -> Iterator[tuple[Any, Any, Kind]]:
    """Yield key, value and kind of each part; `_NOTHING` for one that is missing."""
    match kind:
        case Each():
            for key, one in value.items() if isinstance(value, dict) else enumerate(value):
                yield key, one, kind.of
        case Record():
            for key, of in kind.needed.items():
                yield key, value.get(key, _NOTHING), of
            for key, of in kind.optional.items():
                if key in value:
                    yield key, value[key], of


def _shown(value: Any) -> str:
    """Return a value as an error names it: short."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 40 else f"{text[:40]}..."

"""The result of one task on one data set, with what is needed to reproduce it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, NamedTuple, NotRequired, TypedDict

import msgspec
from msgspec import Meta

from evaluation.metrics import declared

TASKS = ("response_ranking", "snli", "sts", "cqa")
"""Those of the paper; their data are a file or a folder."""
RETRIEVAL = "retrieval"  # on the user's own data: three files
IGNORE_IDENTICAL_IDS = "ignore_identical_ids"
TUNED, IN_CONTEXT = "-tuned", "-in-context"
VARIANTS = {TUNED: ", tuned", IN_CONTEXT: ", in context"}
"""Suffixes of the names of further results on the same items, and of the labels of their rows."""
BASELINES = "baselines"  # the folder that the command of this name writes to
CEILING = "ceiling"  # a baseline of CQA: scores that no order can beat
ALL = "all"  # the group that all items of a result are in
SYSTEMS = {
    "module": "this module",
    "module_tuned": "this module, tuned",
    "word_overlap": "word overlap",
    "search_engine": "search engine",
    "bm25": "BM25",
    "untuned": "this module, untuned",
    "none": "all items",
    "majority": "most frequent label",
}
"""What tables call systems; others have their names."""
Figure = float | None
Metrics = Mapping[str, Figure]
Intervals = Mapping[str, Annotated[list[float], Meta(min_length=2, max_length=2)]]
Count = Annotated[int, Meta(ge=0)]


class Group(TypedDict):
    """The scores of a part of the items, such as a genre."""

    n: Count
    metrics: Metrics
    intervals: NotRequired[Intervals]


@dataclass(frozen=True, kw_only=True)
class Result:
    """The result of one task on one data set.

    A task fills the first block, `store.Evaluation` the second. Metrics are in [0, 1], correlations
    in [-1, 1]; None is an undefined one, such as the correlation of a single pair. Intervals are
    [low, high], 95%; a metric without one was not resampled.
    """

    task: str
    name: str
    system: str = "module"  # or search_engine, where the data hold no text
    metrics: Metrics = field(default_factory=dict)
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

    def parts(self) -> Iterator[tuple[str, str, int, Metrics, Intervals]]:
        """Yield baseline (or ""), group, n, metrics and intervals of each part, all items first."""
        yield "", ALL, self.n, self.metrics, self.intervals
        for group, of in self.groups.items():
            yield "", group, of["n"], of["metrics"], of.get("intervals", {})
        for name, metrics in self.baselines.items():
            yield name, ALL, self.n, metrics, self.baseline_intervals.get(name, {})


class Task(NamedTuple):
    """What is declared of a task."""

    units: str  # what is resampled together
    identity: tuple[str, ...]  # keys of an item that say which one it is, however it was scored
    group: str = ""  # the key that names its group
    settings: tuple[str, ...] = ()  # on which the items depend, besides the data


_RANKED, _PAIR = ("input_id", "response_id", "block"), ("sentence1", "sentence2", "gold")
DECLARED = {
    "response_ranking": Task("blocks", _RANKED, settings=("candidates", "seed", "own_replies")),
    "snli": Task("pairs", ("premise", "hypothesis", "gold"), "gold"),
    "sts": Task("pairs", _PAIR, "genre", ("columns", "quotes", "escape")),
    "cqa": Task("queries", ("query_id", "candidate_id", "relevant")),
    RETRIEVAL: Task("queries", ("query_id",), settings=(IGNORE_IDENTICAL_IDS,)),
}
OTHERS = ("contamination", "mistakes", "sts_regression")
"""Tasks whose results stand in reports alone."""


def data_name(name: str) -> str:
    """Return the name of a result without a suffix of `VARIANTS`."""
    for end in VARIANTS:
        name = name.removesuffix(end)
    return name


LEARNED_FROM = "training or dev data"


def facts(result: Result) -> dict[str, Any]:
    """Return what the items of a result and their scores depend on, besides the module."""
    settings = DECLARED[result.task].settings if result.task in DECLARED else ()
    data, learned_from = result.data, result.data.get("learned_from", {})
    hashes = {"data": data.get("sha256"), LEARNED_FROM: learned_from.get("sha256")}
    return {name: digest and digest[:12] for name, digest in hashes.items()} | {
        name: result.settings.get(name) for name in settings
    }


def checked(content: Any) -> Result:
    """Return what a result file holds; a msgspec.ValidationError says what it lacks, and where."""
    result = msgspec.convert(content, Result)
    if result.task not in (*DECLARED, *OTHERS):
        accepted = ", ".join((*DECLARED, *OTHERS))
        raise msgspec.ValidationError(f"task {result.task!r}; accepted: {accepted}")
    main = declared.MAIN.get(result.task)
    known = [main in result.metrics] if main else map(declared.at, result.metrics)
    if result.task in DECLARED and not any(known):
        raise msgspec.ValidationError(f"metrics: none of {result.task}")
    if result.module is not None and not {"path", "fingerprint"} <= result.module.keys():
        raise msgspec.ValidationError("module: path and fingerprint are needed")
    if result.task == "sts_regression" and not {"row", "label"} <= result.settings.keys():
        raise msgspec.ValidationError("settings: row and label are needed")
    return result

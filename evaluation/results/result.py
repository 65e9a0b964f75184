"""The result of one task on one data set, with what is needed to reproduce it; and its text."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Annotated, Any, NamedTuple, NotRequired, TypedDict

import msgspec
from msgspec import Meta
from tabulate import tabulate

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
METRIC_LABELS = {
    "pearson": "Pearson",
    "spearman": "Spearman",
    "cosine_pearson": "Pearson of cosines",
    "pearson_without_repeats": "Pearson, STSBenchmark.v2",
    "map": "MAP",
    "avg_rec": "AvgRec",
    "mrr": "MRR",
    "ndcg_at_10": "nDCG@10",
    "mrr_at_10": "MRR@10",
    "recall_at_10": "R@10",
    "recall_at_100": "R@100",
    "precision": "P",
    "recall": "R",
    "f1": "F1",
    "pearson_in_sample": "in sample",
}
"""What tables call metrics; others have their names, with spaces."""
METRICS_ACROSS = 4
"""Where there are more, each has a row of its own: with its interval it is 21 characters wide."""
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
    main: str = ""  # the metric by which a result is known; of response ranking its first P@N
    group: str = ""  # the key that names its group
    settings: tuple[str, ...] = ()  # on which the items depend, besides the data


_RANKED, _PAIR = ("input_id", "response_id", "block"), ("sentence1", "sentence2", "gold")
DECLARED = {
    "response_ranking": Task("blocks", _RANKED, settings=("candidates", "seed", "own_replies")),
    "snli": Task("pairs", ("premise", "hypothesis", "gold"), "accuracy", "gold"),
    "sts": Task("pairs", _PAIR, "pearson", "genre", ("columns", "quotes", "escape")),
    "cqa": Task("queries", ("query_id", "candidate_id", "relevant"), "map"),
    RETRIEVAL: Task("queries", ("query_id",), "ndcg_at_10", settings=(IGNORE_IDENTICAL_IDS,)),
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
    task = DECLARED.get(result.task)
    if task and not any(name == task.main if task.main else at(name) for name in result.metrics):
        raise msgspec.ValidationError(f"metrics: none of {result.task}")
    if result.module is not None and not {"path", "fingerprint"} <= result.module.keys():
        raise msgspec.ValidationError("module: path and fingerprint are needed")
    if result.task == "sts_regression" and not {"row", "label"} <= result.settings.keys():
        raise msgspec.ValidationError("settings: row and label are needed")
    return result


def at(name: str) -> int | None:
    """Return the N of P@N (section 4.1), whose name is p_at_N; None for another metric."""
    match = re.fullmatch(r"p_at_([1-9]\d*)", name)
    return int(match[1]) if match else None


def main_metric(metrics: Mapping[str, object]) -> str | None:
    """Return the metric that a result is known by: a task's main one, its first P@N, or None."""
    # The last task first: CQA may have SNLI's accuracy, too.
    mains = (task.main for task in reversed(DECLARED.values()))
    return next((name for name in (*mains, *filter(at, metrics)) if name in metrics), None)


def label(name: str) -> str:
    """Return a metric's name as people write it."""
    return f"P@{n}" if (n := at(name)) else METRIC_LABELS.get(name, name.replace("_", " "))


def figure(value: float | None, interval: Sequence[float] | None = None) -> str:
    """Return a metric's value, and its interval where it has one; a dash where it is undefined."""
    if value is None or value != value:
        return "-"
    return f"{value:.4f}" + (f" [{interval[0]:.3f}, {interval[1]:.3f}]" if interval else "")


def module_name(result: Result) -> str:
    """Return the name of the module's folder, with its parent's where it is a version number."""
    parts = PurePath(result.module["path"]).parts if result.module else ()
    return (
        "/".join(parts[-2:] if parts and parts[-1].isdigit() else parts[-1:]) or SYSTEMS["module"]
    )


def table(result: Result) -> str:
    """Return one result as a small text table: metrics of systems, and of groups."""
    keys = list(result.metrics)
    rows: list[tuple] = [(result.name, "n", *map(label, keys))]
    for baseline, group, n, metrics, ends in result.parts():
        system = SYSTEMS.get(baseline or result.system, baseline or result.system)
        system = system.replace(SYSTEMS["module"], module_name(result))
        name = system if group == ALL else f"{system}, {group}"
        rows.append((name, n, *(figure(metrics.get(key), ends.get(key)) for key in keys)))
    if len(keys) > METRICS_ACROSS:
        rows = list(zip(*rows, strict=True))
    aligned = ["left"] + ["right"] * (len(rows[0]) - 1)
    return tabulate(rows, headers="firstrow", disable_numparse=True, colalign=aligned)


def printed(result: Result) -> str:
    """Return a result for the terminal: its table, its counts, its notes."""
    counted = [f"{name.replace('_', ' ')} {count:,}" for name, count in result.counts.items()]
    lines = [table(result), ", ".join(counted), *result.notes]
    return "\n".join(line for line in lines if line)

"""Results as text tables for the terminal; labels of metrics and systems in every table."""

from pathlib import PurePath

from tabulate import tabulate

from evaluation.results.result import Metrics, Result

LABELS = {
    "pearson": "Pearson",
    "spearman": "Spearman",
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
    "mean_of_sets": "mean of sets",
    "pairs_in_training": "pairs in training",
    "texts_in_training": "texts in training",
    "mean_error": "mean error",
    "mean_absolute_error": "mean absolute error",
}
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

_METRICS_ACROSS = 4
"""Where there are more, each has a row of its own: with its interval it is 21 characters wide."""


def figure(value: float | None, interval: list[float] | None = None) -> str:
    """Return a metric's value, and its interval where it has one; a dash where it is undefined."""
    if value is None or value != value:
        return "-"
    return f"{value:.4f}" + (f" [{interval[0]:.3f}, {interval[1]:.3f}]" if interval else "")


def label(name: str) -> str:
    """Return a metric's name as people write it."""
    return LABELS.get(name, name.replace("p_at_", "P@"))


def module_name(result: Result) -> str:
    """Return the name of the module's folder, with its parent's where it is a version number."""
    parts = PurePath(result.module["path"]).parts if result.module else ()
    return (
        "/".join(parts[-2:] if parts and parts[-1].isdigit() else parts[-1:]) or SYSTEMS["module"]
    )


def _systems(result: Result) -> list[tuple[str, Metrics]]:
    """Return (label, metrics) of what was scored, by its name, and of every baseline."""
    rows = [(result.system, result.metrics), *result.baselines.items()]
    this, name = SYSTEMS["module"], module_name(result)
    return [(SYSTEMS.get(key, key).replace(this, name), metrics) for key, metrics in rows]


def table(result: Result) -> str:
    """Return one result as a small text table: metrics of systems, and of groups."""
    keys = list(result.metrics)
    (scored, ours), *baselines = _systems(result)
    found = [(scored, result.n, ours, result.intervals)]
    found += [
        (f"{scored}, {name}", group["n"], group["metrics"], group.get("intervals", {}))
        for name, group in result.groups.items()
    ]
    found += [
        (label, result.n, metrics, result.baseline_intervals.get(name, {}))
        for (label, metrics), name in zip(baselines, result.baselines, strict=True)
    ]
    body = [
        (label, n, *(figure(metrics.get(key), ends.get(key)) for key in keys))
        for label, n, metrics, ends in found
    ]
    rows: list[tuple] = [(result.name, "n", *map(label, keys)), *body]
    if len(keys) > _METRICS_ACROSS:
        rows = list(zip(*rows, strict=True))
    aligned = ["left"] + ["right"] * (len(rows[0]) - 1)
    return tabulate(rows, headers="firstrow", disable_numparse=True, colalign=aligned)


def printed(result: Result) -> str:
    """Return a result for the terminal: its table, its counts, its notes."""
    counted = [f"{name.replace('_', ' ')} {count:,}" for name, count in result.counts.items()]
    lines = [table(result), ", ".join(counted), *result.notes]
    return "\n".join(line for line in lines if line)


def overview(results: list[Result]) -> str:
    """Return all results as one text table, one row a metric, the baselines beside ours."""
    body = []
    for result in results:
        (scored, ours), *baselines = _systems(result)
        for key, value in ours.items():
            beside = [f"{name} {figure(found[key])}" for name, found in baselines if key in found]
            body.append((result.name, label(key), scored, figure(value), ", ".join(beside)))
    headers = ["result", "metric", "scored", "score", "baselines"]
    aligned = ["left"] * 3 + ["right", "left"]
    return tabulate(body, headers=headers, disable_numparse=True, colalign=aligned)

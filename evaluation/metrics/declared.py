"""The metrics of results: their names in files and in tables; `results.measure` computes them."""

import re
from collections.abc import Mapping

MAIN = {"cqa": "map", "retrieval": "ndcg_at_10", "sts": "pearson", "snli": "accuracy"}
"""Task -> its main metric, the most specific first; response ranking has its first P@N."""
OF_COSINES = ("cosine_pearson", "cosine_mean_of_sets")
"""Metrics of STS on cosines, which baselines in the items of a result do not have."""
LABELS = {
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


def at(name: str) -> int | None:
    """Return the N of P@N (section 4.1), whose name is p_at_N; None for another metric."""
    match = re.fullmatch(r"p_at_([1-9]\d*)", name)
    return int(match[1]) if match else None


def main_metric(metrics: Mapping[str, object]) -> str | None:
    """Return the metric by which a result is known: of `MAIN`, or its first P@N, or None."""
    found = (name for name in (*MAIN.values(), *filter(at, metrics)) if name in metrics)
    return next(found, None)


def label(name: str) -> str:
    """Return a metric's name as people write it."""
    return f"P@{n}" if (n := at(name)) else LABELS.get(name, name.replace("_", " "))

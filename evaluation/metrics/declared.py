"""The metrics of results: their names in files and in tables, and those of response ranking.

A new metric of response ranking is an entry of `OF_RANKS`; of another task, an entry of `LABELS`
beside its computation in `results.measure`.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

MAIN = {"retrieval": "ndcg_at_10", "cqa": "map", "sts": "pearson", "snli": "accuracy"}
"""The main metric of each task but response ranking; a result with an earlier one may have more."""
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
    "pearson_in_sample": "in sample",
}
"""What tables call metrics; others have their names, with spaces."""


class OfRanks(NamedTuple):
    """A metric of response ranking: the mean over pairs of a value of the true response's rank.

    `value` takes ranks, int [...], from 1, and returns numbers of that shape.
    """

    label: str
    value: Callable[[np.ndarray], np.ndarray]


OF_RANKS: dict[str, OfRanks] = {}
"""By its name, each metric of response ranking besides P@N."""


def of_response_ranking(at: Sequence[int]) -> dict[str, OfRanks]:
    """Return the metrics of response ranking by name, with P@N (section 4.1) for each N of `at`."""
    precisions = {n: lambda ranks, n=n: ranks <= n for n in sorted(at)}
    return {f"p_at_{n}": OfRanks(f"P@{n}", of) for n, of in precisions.items()} | OF_RANKS


def of_ranks(name: str) -> OfRanks | None:
    """Return the metric of response ranking of this name, if it is one."""
    match = re.fullmatch(r"p_at_([1-9]\d*)", name)
    return of_response_ranking([int(match[1])] if match else []).get(name)


def main_metric(metrics: Mapping[str, object]) -> str | None:
    """Return the metric by which a result is known: of `MAIN`, or the first of ranks, or None."""
    found = (name for name in (*MAIN.values(), *filter(of_ranks, metrics)) if name in metrics)
    return next(found, None)


def label(name: str) -> str:
    """Return a metric's name as people write it."""
    metric = of_ranks(name)
    return metric.label if metric else LABELS.get(name, name.replace("_", " "))

"""Every figure again from the items that a result stores, ready to be resampled.

What is resampled together is a unit: the pair for STS and SNLI, the query for CQA, the block of
candidates for response ranking. `result.items` holds each item's score by the module, and under
`baselines` by each baseline, so that intervals, paired tests and figures on a part of the items
need no module.
"""

import dataclasses
from collections.abc import Callable, Mapping

import numpy as np

from evaluation.errors import InputError
from evaluation.metrics import bootstrap, metrics, weighted
from evaluation.metrics.bootstrap import Figures
from evaluation.results.result import Result

Resampled = tuple[Figures, int]
"""Figures as a function of weights, and the number of units that they weigh."""


def with_intervals(result: Result, *, seed: int) -> Result:
    """Return the result with intervals of its figures, its groups' and its baselines'."""
    groups = {
        name: group | {"intervals": _intervals(result, seed=seed, rows=rows)}
        for name, group in result.groups.items()
        for rows in [group_rows(result, name)]
    }
    return dataclasses.replace(
        result,
        intervals=_intervals(result, seed=seed),
        baseline_intervals={
            name: _intervals(result, seed=seed, system=name)
            for name in result.baselines
            if _has(result, name)
        },
        groups=groups,
        settings=dict(result.settings) | {"seed": seed, "resamples": bootstrap.RESAMPLES},
    )


def _intervals(result: Result, *, seed: int, **choice) -> dict[str, bootstrap.Interval]:
    weigh, units = figures(result, **choice)
    return bootstrap.intervals(weigh, units, seed=seed)


def _has(result: Result, system: str) -> bool:
    """Say whether the items hold this baseline's scores; chance, for one, has none."""
    return bool(result.items) and system in result.items[0].get("baselines", {})


def group_rows(result: Result, group: str) -> np.ndarray:
    """Return which items belong to a group of the result: int [items of the group]."""
    key = {"sts": "genre", "snli": "gold"}[result.task]
    return np.flatnonzero([item[key] == group for item in result.items])


def figures(result: Result, *, system: str | None = None, rows=None) -> Resampled:
    """Return the figures of the module, or of a baseline, over all items or some `rows`.

    Raises InputError where the result has no items of the kind that its task stores.
    """
    items = result.items if rows is None else [result.items[row] for row in rows]
    try:
        return _OF_TASK[result.task](items, system, result)
    except (KeyError, TypeError, IndexError) as error:
        raise InputError(
            f"{result.name}: its items lack what {result.task} is resampled from ({error}); "
            "compute it again with --again"
        ) from error


def _of(item: Mapping, key: str, system: str | None):
    """Return the module's value of an item, or a baseline's."""
    return item[key] if system is None else item["baselines"][system]


def _sts(items: list[dict], system: str | None, result: Result) -> Resampled:
    score = np.array([_of(item, "score", system) for item in items], dtype=np.float64)
    gold = np.array([item["gold"] for item in items], dtype=np.float64)
    sets = np.array([item["genre"] for item in items])

    def weigh(weights: np.ndarray) -> dict[str, np.ndarray]:
        found = {
            "pearson": weighted.pearson(weights, score, gold),
            "spearman": weighted.spearman(weights, score, gold),
        }
        if "mean_of_sets" in result.metrics:
            found["mean_of_sets"] = _mean_of_sets(weights, score, gold, sets=sets)
        return found

    return weigh, len(items)


def _mean_of_sets(weights: np.ndarray, score, gold, *, sets: np.ndarray) -> np.ndarray:
    """Return the mean of each set's Pearson's r, by the sets' sizes (SemEval 2013 to 2016)."""
    total = np.zeros(len(weights))
    for name in np.unique(sets):
        rows = sets == name
        total += rows.sum() * weighted.pearson(weights[:, rows], score[rows], gold[rows])
    return total / len(sets)


def _snli(items: list[dict], system: str | None, result: Result) -> Resampled:
    right = np.array([_of(item, "predicted", system) == item["gold"] for item in items])
    return lambda weights: {"accuracy": weighted.ratio(weights, right.astype(float))}, len(items)


def _response_ranking(items: list[dict], system: str | None, result: Result) -> Resampled:
    ranks = np.array([_of(item, "rank", system) for item in items])
    _, block = np.unique([item["block"] for item in items], return_inverse=True)
    size = np.bincount(block).astype(np.float64)

    def weigh(weights: np.ndarray) -> dict[str, np.ndarray]:
        return {
            f"p_at_{n}": weighted.ratio(weights, np.bincount(block, ranks <= n), size)
            for name in result.metrics
            for n in [int(name.removeprefix("p_at_"))]
        }

    return weigh, len(size)


def _cqa(items: list[dict], system: str | None, result: Result) -> Resampled:
    score = np.array([_of(item, "score", system) for item in items], dtype=np.float64)
    relevant = np.array([item["relevant"] for item in items], dtype=bool)
    query_ids = list(dict.fromkeys(item["query_id"] for item in items))
    number = {query_id: place for place, query_id in enumerate(query_ids)}
    query = np.array([number[item["query_id"]] for item in items])
    rankings = [metrics.ranked(score[query == i], relevant[query == i]) for i in number.values()]
    precisions = np.array([metrics.average_precision(labels) for labels in rankings])
    reciprocals = np.array([metrics.reciprocal_rank(labels) for labels in rankings])
    threshold = result.settings.get(threshold_name(system))

    def weigh(weights: np.ndarray) -> dict[str, np.ndarray]:
        found = {
            "map": weighted.ratio(weights, precisions),
            "avg_rec": weighted.average_recall(weights, rankings),
            "mrr": weighted.ratio(weights, reciprocals),
        }
        if threshold is not None:
            found |= weighted.classification(weights, score >= threshold, relevant, units=query)
        return found

    return weigh, len(rankings)


def threshold_name(system: str | None) -> str:
    """Return the setting that holds a system's threshold between relevant and not."""
    return "threshold" if system is None else f"{system}_threshold"


_OF_TASK: dict[str, Callable[[list[dict], str | None, Result], Resampled]] = {
    "sts": _sts,
    "snli": _snli,
    "response_ranking": _response_ranking,
    "cqa": _cqa,
}

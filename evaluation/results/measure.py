"""Metrics and intervals of a result, from its items: the scored pairs or candidates that it stores.

What is resampled together is a unit (`Task.units`). An item holds its score by the module and,
under `baselines`, by each baseline, so metrics of any part of the items need no module.
"""

import dataclasses
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np

from common import statistics
from common.errors import InputError
from common.statistics import Sample
from evaluation.metrics import ranking
from evaluation.results.result import ALL, DECLARED, Group, Result, at

OF_COSINES = ("cosine_pearson", "cosine_mean_of_sets")
"""Metrics of STS on cosines, which baselines in the items of a result do not have."""
FEW_UNITS = 20
"""With fewer units, percentile intervals of the bootstrap are too narrow, and a note says so."""


def sample_of(
    result: Result,
    *,
    system: str | None = None,
    group: str = ALL,
    metrics: Collection[str] | None = None,
) -> Sample:
    """Return the units and metrics of the module, or of a baseline, over all items or a group.

    By default the metrics are the result's; InputError if items lack what the task stores.
    """
    key = DECLARED[result.task].group
    items = [item for item in result.items if group in (ALL, item.get(key))]
    asked = tuple(result.metrics) if metrics is None else tuple(metrics)
    if system is not None:
        asked = tuple(name for name in asked if name not in OF_COSINES)

    def values_of(key: str) -> list:
        """Return the value of each item by the module, or by the baseline."""
        return [item[key] if system is None else item["baselines"][system] for item in items]

    try:
        threshold: Any = result.settings.get(threshold_name(system))
        units, values = _SAMPLES[result.task](items, values_of, asked, threshold)
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise InputError(
            f"{result.name}: its items lack what {result.task} is resampled from ({error}); "
            "compute it again with --again"
        ) from error
    return Sample(units, lambda of: {k: v for k, v in values(of).items() if k in asked})


def threshold_name(system: str | None) -> str:
    """Return the setting that holds a system's threshold between relevant and not."""
    return "threshold" if system is None else f"{system}_threshold"


def measured(
    result: Result,
    metrics: Sequence[str],
    *,
    groups: Sequence[str] = (),
    group_metrics: Sequence[str] = (),
) -> Result:
    """Return the result with these metrics of its items: the module's, groups' and baselines'."""
    of_groups: dict[str, Group] = {}
    for name in groups:
        sample = sample_of(result, group=name, metrics=group_metrics or metrics)
        of_groups[name] = {"n": sample.units, "metrics": sample.once()}
    scored = {
        name: sample_of(result, system=name, metrics=metrics).once() for name in systems(result)
    }
    return dataclasses.replace(
        result,
        metrics=sample_of(result, metrics=metrics).once(),
        groups=of_groups,
        # Behind those of the items: what they have no score of, such as chance.
        baselines=scored | {k: of for k, of in result.baselines.items() if k not in scored},
    )


def with_intervals(result: Result, *, seed: int) -> Result:
    """Return the result with 95% intervals of its metrics, its groups' and its baselines'."""
    ends, units, notes = {}, sample_of(result).units, list(result.notes)
    for baseline, group, _, metrics, _ in result.parts():
        if baseline in ("", *systems(result)):
            sample = sample_of(result, system=baseline or None, group=group, metrics=metrics)
            ends[baseline, group] = statistics.intervals(sample, seed=seed)
    if 0 < units < FEW_UNITS:
        of = DECLARED[result.task].units
        notes.append(f"The intervals are too narrow: there are few {of} ({units}).")
    return dataclasses.replace(
        result,
        intervals=ends["", ALL],
        groups={
            name: {**group, "intervals": ends["", name]} for name, group in result.groups.items()
        },
        baseline_intervals={name: ends[name, ALL] for name in systems(result)},
        settings=dict(result.settings) | {"seed": seed, "resamples": statistics.RESAMPLES},
        notes=notes,
    )


def systems(result: Result) -> list[str]:
    """Return the baselines whose scores the items of a result hold."""
    return list(result.items[0].get("baselines", {})) if result.items else []


Items = Sequence[Mapping]
Values = Callable[[str], list]
Found = tuple[int, Callable[[np.ndarray], dict[str, np.ndarray]]]
"""How many units there are, and the metrics of any choice of them, as in a `Sample`."""


def _response_ranking(items: Items, values_of: Values, metrics: Collection[str], _) -> Found:
    ranks = np.array(values_of("rank"))
    _, block = np.unique([item["block"] for item in items], return_inverse=True)
    size = np.bincount(block)
    sums = {name: np.bincount(block, ranks <= n) for name in metrics if (n := at(name))}
    return len(size), lambda blocks: {
        name: row[blocks].sum(axis=-1) / size[blocks].sum(axis=-1) for name, row in sums.items()
    }


def _snli(items: Items, values_of: Values, *_) -> Found:
    right = np.array(values_of("predicted")) == np.array([item["gold"] for item in items])
    return len(items), lambda pairs: {"accuracy": right[pairs].mean(axis=-1)}


def _sts(items: Items, values_of: Values, metrics: Collection[str], _) -> Found:
    of_cosines = any(name in OF_COSINES for name in metrics)
    score = np.array(values_of("score"), dtype=np.float64)
    cosine = np.array(values_of("cosine") if of_cosines else [], dtype=np.float64)
    gold = np.array([item["gold"] for item in items], dtype=np.float64)
    genres = np.array([item["genre"] for item in items])
    names, sizes = np.unique(genres, return_counts=True)
    once = np.array(["repeated" not in item for item in items])

    def mean_of_sets(x: np.ndarray, y: np.ndarray, genre: np.ndarray) -> np.ndarray:
        """Return the mean of r by the sets' sizes, as SemEval's years of STS report it."""
        each = [statistics.pearson(x, y, where=genre == name) for name in names]
        return np.average(np.stack(each, axis=-1), weights=sizes, axis=-1)

    def values(pairs: np.ndarray) -> dict[str, np.ndarray]:
        y, found = gold[pairs], {}
        for prefix, of in (("", score), ("cosine_", cosine)):
            if f"{prefix}pearson" in metrics:
                found[f"{prefix}pearson"] = statistics.pearson(of[pairs], y)
            if f"{prefix}mean_of_sets" in metrics:
                found[f"{prefix}mean_of_sets"] = mean_of_sets(of[pairs], y, genres[pairs])
        if "pearson_without_repeats" in metrics:
            found["pearson_without_repeats"] = statistics.pearson(
                score[pairs], y, where=once[pairs]
            )
        if "spearman" in metrics:  # ranks take most of the time
            found["spearman"] = statistics.spearman(score[pairs], y)
        return found

    return len(items), values


def _cqa(items: Items, values_of: Values, _, threshold: float | None) -> Found:
    score = np.array(values_of("score"), dtype=np.float64)
    relevant = np.array([item["relevant"] for item in items], dtype=bool)
    number: dict[str, int] = {}
    query = np.array([number.setdefault(item["query_id"], len(number)) for item in items])
    rankings = [ranking.ranked(score[query == i], relevant[query == i]) for i in number.values()]
    precisions = np.array([ranking.average_precision(labels) for labels in rankings])
    reciprocals = np.array([ranking.reciprocal_rank(labels) for labels in rankings])
    hits, possible = ranking.recall_counts(rankings)
    counts = np.zeros((len(rankings), ranking.COUNTS), dtype=np.int64)
    if threshold is not None:
        np.add.at(counts, query, ranking.label_counts(score >= threshold, relevant))

    def values(queries: np.ndarray) -> dict[str, np.ndarray]:
        found = {
            "map": precisions[queries].mean(axis=-1),
            "avg_rec": ranking.average_recall(hits[queries], possible[queries]),
            "mrr": reciprocals[queries].mean(axis=-1),
        }
        return found if threshold is None else found | ranking.from_counts(counts[queries])

    return len(rankings), values


def _retrieval(items: Items, values_of: Values, metrics: Collection[str], _) -> Found:
    found = values_of("metrics")
    columns = {name: np.array([of_query[name] for of_query in found]) for name in metrics}
    return len(items), lambda of: {name: row[of].mean(axis=-1) for name, row in columns.items()}


_SAMPLES = {
    "response_ranking": _response_ranking,
    "snli": _snli,
    "sts": _sts,
    "cqa": _cqa,
    "retrieval": _retrieval,
}

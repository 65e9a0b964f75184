"""Metrics and intervals of a result, from its items: the scored pairs or candidates that it stores.

What is resampled together is a unit: the pair for STS and SNLI, the query for CQA and retrieval,
the block of candidates for response ranking. An item holds its score by the module and, under
`baselines`, by each baseline, so metrics, intervals and paired tests on any part of the items need
no module.
"""

import dataclasses
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from common import statistics
from common.errors import InputError
from common.statistics import Sample
from evaluation.metrics import classification, correlation, declared, ranking
from evaluation.results.result import DECLARED, Group, Result

FEW_UNITS = 20
"""With fewer units, percentile intervals of the bootstrap are too narrow, and a note says so."""


def sample_of(
    result: Result,
    *,
    system: str | None = None,
    rows: Iterable[int] | None = None,
    metrics: Collection[str] | None = None,
) -> Sample:
    """Return the units and metrics of the module, or of a baseline, over all items or some `rows`.

    By default the metrics are those that the result has.

    Raises:
      InputError: if the items lack what the task stores.
    """
    items = result.items if rows is None else [result.items[row] for row in rows]
    metrics = tuple(result.metrics) if metrics is None else metrics

    def values_of(key: str) -> list:
        """Return the value of each item by the module, or by the baseline."""
        return [item[key] if system is None else item["baselines"][system] for item in items]

    try:
        threshold: Any = result.settings.get(threshold_name(system))
        found = _SAMPLES[result.task](items, values_of, metrics, threshold)
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise InputError(
            f"{result.name}: its items lack what {result.task} is resampled from ({error}); "
            "compute it again with --again"
        ) from error

    def asked(units: np.ndarray) -> dict[str, np.ndarray]:
        return {name: value for name, value in found.metrics(units).items() if name in metrics}

    return Sample(found.units, asked)


def threshold_name(system: str | None) -> str:
    """Return the setting that holds a system's threshold between relevant and not."""
    return "threshold" if system is None else f"{system}_threshold"


def measured(
    result: Result,
    metrics: Sequence[str],
    *,
    groups: Sequence[str] = (),
    group_metrics: Sequence[str] | None = None,
) -> Result:
    """Return the result with these metrics of its items: the module's, groups' and baselines'.

    Baselines of which the items have no score, such as chance, stay as they are.
    """
    found: dict[str, Group] = {}
    for group in groups:
        rows = group_rows(result, group)
        sample = sample_of(result, rows=rows, metrics=group_metrics or metrics)
        found[group] = {"n": len(rows), "metrics": sample.once()}
    scored = {
        name: sample_of(result, system=name, metrics=metrics).once() for name in systems(result)
    }
    return dataclasses.replace(
        result,
        metrics=sample_of(result, metrics=metrics).once(),
        groups=found,
        baselines=scored | {k: of for k, of in result.baselines.items() if k not in scored},
    )


def with_intervals(result: Result, *, seed: int) -> Result:
    """Return the result with 95% intervals of its metrics, its groups' and its baselines'."""
    groups = {}
    for name, group in result.groups.items():
        sample = sample_of(result, rows=group_rows(result, name), metrics=group["metrics"].keys())
        groups[name] = group | {"intervals": statistics.intervals(sample, seed=seed)}
    sample = sample_of(result)
    units, notes = DECLARED[result.task].units, list(result.notes)
    if 0 < sample.units < FEW_UNITS:
        notes.append(f"The intervals rest on {sample.units} {units}: they are too narrow.")
    return dataclasses.replace(
        result,
        intervals=statistics.intervals(sample, seed=seed),
        baseline_intervals={
            name: statistics.intervals(sample_of(result, system=name), seed=seed)
            for name in result.baselines
            if name in systems(result)
        },
        groups=groups,
        settings=dict(result.settings) | {"seed": seed, "resamples": statistics.RESAMPLES},
        notes=notes,
    )


def group_rows(result: Result, group: str) -> np.ndarray:
    """Return which items belong to a group of the result: int [items of the group]."""
    key = DECLARED[result.task].group
    return np.flatnonzero([item[key] == group for item in result.items])


def systems(result: Result) -> list[str]:
    """Return the baselines whose scores the items of a result hold."""
    return list(result.items[0].get("baselines", {})) if result.items else []


Items = Sequence[Mapping]
Values = Callable[[str], list]


def _response_ranking(items: Items, values_of: Values, metrics: Collection[str], _) -> Sample:
    ranks = np.array(values_of("rank"))
    _, block = np.unique([item["block"] for item in items], return_inverse=True)
    size = np.bincount(block)
    sums = {
        name: np.bincount(block, metric.value(ranks))
        for name in metrics
        if (metric := declared.of_ranks(name))
    }

    def values(blocks: np.ndarray) -> dict[str, np.ndarray]:
        return {
            name: ranking.ratio_of_sums(row[blocks], size[blocks]) for name, row in sums.items()
        }

    return Sample(len(size), values)


def _snli(items: Items, values_of: Values, *_) -> Sample:
    right = np.array(values_of("predicted")) == np.array([item["gold"] for item in items])
    return Sample(len(items), lambda pairs: {"accuracy": right[pairs].mean(axis=-1)})


def _sts(items: Items, values_of: Values, metrics: Collection[str], _) -> Sample:
    score = np.array(values_of("score"), dtype=np.float64)
    gold = np.array([item["gold"] for item in items], dtype=np.float64)
    genres = np.array([item["genre"] for item in items])

    def values(pairs: np.ndarray) -> dict[str, np.ndarray]:
        x, y = score[pairs], gold[pairs]
        found = {"pearson": correlation.pearson(x, y)}
        if "spearman" in metrics:  # ranks take most of the time
            found["spearman"] = correlation.spearman(x, y)
        if "mean_of_sets" in metrics:
            found["mean_of_sets"] = _mean_of_sets(x, y, genres[pairs], of=genres)
        return found

    return Sample(len(items), values)


def _mean_of_sets(x: np.ndarray, y: np.ndarray, sets: np.ndarray, *, of: np.ndarray) -> np.ndarray:
    """Return the mean of each data set's Pearson's r, weighted by its size in `of`.

    SemEval's years of STS report it; pooled over all pairs, r is another number.
    """
    names, sizes = np.unique(of, return_counts=True)
    each = [correlation.pearson(x, y, where=sets == name) for name in names]
    return np.average(np.stack(each, axis=-1), weights=sizes, axis=-1)


def _cqa(items: Items, values_of: Values, _, threshold: float | None) -> Sample:
    score = np.array(values_of("score"), dtype=np.float64)
    relevant = np.array([item["relevant"] for item in items], dtype=bool)
    number: dict[str, int] = {}
    query = np.array([number.setdefault(item["query_id"], len(number)) for item in items])
    rankings = [ranking.ranked(score[query == i], relevant[query == i]) for i in number.values()]
    precisions = np.array([ranking.average_precision(labels) for labels in rankings])
    reciprocals = np.array([ranking.reciprocal_rank(labels) for labels in rankings])
    hits, possible = ranking.recall_counts(rankings)
    counts = np.zeros((len(rankings), classification.COUNTS), dtype=np.int64)
    if threshold is not None:
        np.add.at(counts, query, classification.label_counts(score >= threshold, relevant))

    def values(queries: np.ndarray) -> dict[str, np.ndarray]:
        found = {
            "map": precisions[queries].mean(axis=-1),
            "avg_rec": ranking.average_recall(hits[queries], possible[queries]),
            "mrr": reciprocals[queries].mean(axis=-1),
        }
        return found if threshold is None else found | classification.from_counts(counts[queries])

    return Sample(len(rankings), values)


def _retrieval(items: Items, values_of: Values, metrics: Collection[str], _) -> Sample:
    of_queries = values_of("metrics")
    columns = {name: np.array([of_query[name] for of_query in of_queries]) for name in metrics}

    def values(queries: np.ndarray) -> dict[str, np.ndarray]:
        return {name: column[queries].mean(axis=-1) for name, column in columns.items()}

    return Sample(len(items), values)


_SAMPLES = {
    "response_ranking": _response_ranking,
    "snli": _snli,
    "sts": _sts,
    "cqa": _cqa,
    "retrieval": _retrieval,
}

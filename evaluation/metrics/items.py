"""The metrics of each task from its items, the scored pairs or candidates that a result stores.

What is resampled together is a unit: the pair for STS and SNLI, the query for CQA, the block of
candidates for response ranking. An item holds its score by the module and, under `baselines`, by
each baseline, so metrics, intervals and paired tests on any part of the items need no module.
"""

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from evaluation.metrics import classification, correlation, ranking
from evaluation.metrics.bootstrap import Sample

Items = Sequence[Mapping]


def sample(
    task: str,
    items: Items,
    *,
    metrics: Collection[str],
    system: str | None = None,
    threshold: float | None = None,
) -> Sample:
    """Return the units of a result's items, with the metrics that are asked for.

    Args:
      task: response_ranking, snli, sts or cqa.
      items: what the task stores.
      metrics: names of metrics; those that the task does not have are left out.
      system: a baseline, by name; None is the module.
      threshold: of CQA's scores, from which on a candidate is labelled relevant.

    Raises:
      KeyError, TypeError, IndexError: if an item lacks what the task stores.
    """
    match task:
        case "response_ranking":
            found = _response_ranking(items, system, metrics)
        case "snli":
            found = _snli(items, system)
        case "sts":
            found = _sts(items, system, metrics)
        case "cqa":
            found = _cqa(items, system, threshold)
        case _:
            raise KeyError(task)
    return Sample(found.units, lambda units: _chosen(found.metrics(units), metrics))


def _chosen(found: Mapping[str, np.ndarray], metrics: Collection[str]) -> dict[str, np.ndarray]:
    return {name: value for name, value in found.items() if name in metrics}


def _of(item: Mapping, key: str, system: str | None):
    """Return an item's value by the module, or by a baseline."""
    return item[key] if system is None else item["baselines"][system]


def _response_ranking(items: Items, system: str | None, metrics: Collection[str]) -> Sample:
    ranks = np.array([_of(item, "rank", system) for item in items])
    _, block = np.unique([item["block"] for item in items], return_inverse=True)
    size = np.bincount(block)
    hits = {name: np.bincount(block, ranks <= int(name.removeprefix("p_at_"))) for name in metrics}

    def values(blocks: np.ndarray) -> dict[str, np.ndarray]:
        return {
            name: ranking.ratio_of_sums(row[blocks], size[blocks]) for name, row in hits.items()
        }

    return Sample(len(size), values)


def _snli(items: Items, system: str | None) -> Sample:
    right = np.array([_of(item, "predicted", system) == item["gold"] for item in items])
    return Sample(len(items), lambda pairs: {"accuracy": right[pairs].mean(axis=-1)})


def _sts(items: Items, system: str | None, metrics: Collection[str]) -> Sample:
    score = np.array([_of(item, "score", system) for item in items], dtype=np.float64)
    gold = np.array([item["gold"] for item in items], dtype=np.float64)
    genres = np.array([item["genre"] for item in items])

    def values(pairs: np.ndarray) -> dict[str, np.ndarray]:
        x, y = score[pairs], gold[pairs]
        found = {"pearson": correlation.pearson(x, y), "spearman": correlation.spearman(x, y)}
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


def _cqa(items: Items, system: str | None, threshold: float | None) -> Sample:
    score = np.array([_of(item, "score", system) for item in items], dtype=np.float64)
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

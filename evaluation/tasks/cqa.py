"""Community question answering, SemEval Task 3 English, subtask B (section 4.4).

Ranks the forum questions that a search engine returned for a new question by their cosine
with it. The organisers' `.relevancy` files hold labels and the search engine's order but no
text: there only that order is scored, and the result says so.

P, R, F1 and accuracy need a yes or no to each candidate: a score from a threshold on is a yes.
The threshold is the one with the highest F1 on a dev file, for every system its own.
"""

import dataclasses
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from evaluation.data.cqa_files import (
    Query,
    QueryData,
    read_relevancy,
    read_xml,
)
from evaluation.data.files import Source, existing, without_gz
from evaluation.errors import InputError
from evaluation.metrics import metrics, per_item
from evaluation.results.result import Result
from evaluation.tasks import similarity

RELEVANCY = ".relevancy"
PREDICTIONS = ".subtaskB.pred"
SEARCH_ENGINE, CEILING = "search_engine", "ceiling"


def find(path: Path) -> list[Source]:
    """Return the file itself, or every file of subtask B anywhere in the folder.

    Where a question file and its .relevancy are both there, the one with text is taken.
    """
    if existing(path).is_file():
        return [Source(_result_name(path), (path,))]
    with_text: dict[str, Path] = {}
    without_text: dict[str, Path] = {}
    for candidate in sorted(path.rglob("*")):
        name = without_gz(candidate)
        if name.endswith(".xml") and "-subtaskA" not in name:
            found = with_text
        elif name.endswith(".subtaskB" + RELEVANCY):
            found = without_text
        else:
            continue
        key = _result_name(candidate)
        if key in found:
            raise InputError(f"{candidate}: the same data as {found[key]}; keep one of them")
        found[key] = candidate
    chosen = without_text | with_text
    if not chosen:
        raise InputError(f"{path}: holds no *.xml and no *.subtaskB.relevancy (plain or .gz)")
    return [Source(key, (chosen[key],)) for key in sorted(chosen)]


def _result_name(path: Path) -> str:
    """Return the same name for a question file and its relevancy file."""
    name = without_gz(path)
    for suffix in (RELEVANCY, ".subtaskB", ".xml"):
        name = name.removesuffix(suffix)
    return f"cqa-{name}"


def read(source: Source) -> QueryData:
    """Read one file of queries, each with its related questions in the file's order."""
    (path,) = source.files
    has_text = not without_gz(path).endswith(RELEVANCY)
    queries = read_xml(path) if has_text else read_relevancy(path)
    return QueryData(source.name, queries, has_text=has_text)


def evaluate(encoder, data: QueryData) -> Result:
    """Rank each query's candidates by cosine, or by the search engine where there is no text."""
    queries = data.queries
    scores = search_engine = [_search_engine(query) for query in queries]
    others = {CEILING: [_labels(query).astype(np.float64) for query in queries]}
    if data.has_text:
        if encoder is None:
            raise InputError(f"{data.name} has questions to rank: --module is needed")
        scores = _cosines(encoder, queries)
        others[SEARCH_ENGINE] = search_engine
        others["word_overlap"] = [_overlaps(query) for query in queries]
    return Result(
        task="cqa",
        name=data.name,
        system="module" if data.has_text else SEARCH_ENGINE,
        metrics=_figures(queries, scores),
        n=len(queries),
        baselines={name: _figures(queries, rows) for name, rows in others.items()},
        counts={
            "candidates": sum(len(query.candidates) for query in queries),
            "queries_with_a_relevant_candidate": sum(
                any(candidate.relevant for candidate in query.candidates) for query in queries
            ),
        },
        items=[
            {
                "query_id": query.id,
                "candidate_id": candidate.id,
                "relevant": candidate.relevant,
                "score": float(scores[i][j]),
                "baselines": {name: float(rows[i][j]) for name, rows in others.items()},
            }
            for i, query in enumerate(queries)
            for j, candidate in enumerate(query.candidates)
        ],
    )


def _labels(query: Query) -> np.ndarray:
    """Return which candidates are relevant, bool [candidates]: scores that no order can beat."""
    return np.array([candidate.relevant for candidate in query.candidates])


def _search_engine(query: Query) -> np.ndarray:
    """Return the search engine's scores, float64 [candidates]."""
    return np.array([candidate.engine_score for candidate in query.candidates])


def _cosines(encoder, queries: list[Query]) -> list[np.ndarray]:
    """Return for each query the cosines with its candidates, float64 [candidates]."""
    left = [query.text for query in queries for _ in query.candidates]
    right = [candidate.text for query in queries for candidate in query.candidates]
    embeddings = encoder.encode(left + right)
    cosines = similarity.cosine(embeddings[: len(left)], embeddings[len(left) :])
    ends = np.cumsum([len(query.candidates) for query in queries])
    return np.split(cosines, ends[:-1])


def _overlaps(query: Query) -> np.ndarray:
    """Return the word overlap of the query with each candidate, float64 [candidates]."""
    asked = similarity.words(query.text)
    return np.array(
        [
            similarity.word_overlap(asked, similarity.words(candidate.text))
            for candidate in query.candidates
        ]
    )


def _figures(queries: list[Query], scores: list[np.ndarray]) -> dict[str, float]:
    """Return MAP, AvgRec and MRR of the order that these scores give."""
    rankings = [
        metrics.ranked(row, _labels(query)) for query, row in zip(queries, scores, strict=True)
    ]
    return {
        "map": metrics.mean_average_precision(rankings),
        "avg_rec": metrics.average_recall(rankings),
        "mrr": metrics.mean_reciprocal_rank(rankings),
    }


def thresholds(dev: Result) -> dict[str, float]:
    """Return for each system of a result the threshold that gives it the highest F1 there."""
    relevant = np.array([item["relevant"] for item in dev.items])
    columns = {dev.system: [item["score"] for item in dev.items]}
    columns |= {name: [item["baselines"][name] for item in dev.items] for name in dev.baselines}
    return {name: _best_threshold(np.array(row), relevant) for name, row in columns.items()}


def _best_threshold(scores: np.ndarray, relevant: np.ndarray) -> float:
    """Return the middle of the gap below the lowest score that is a yes at the highest F1.

    Of equal F1 the highest threshold is taken; float64 [candidates], bool [candidates].
    """
    distinct = np.unique(scores)
    f1 = [metrics.classification(scores >= value, relevant)["f1"] for value in distinct]
    best = len(distinct) - 1 - int(np.argmax(f1[::-1]))
    return float((distinct[max(0, best - 1)] + distinct[best]) / 2)


def classified(result: Result, chosen: Mapping[str, float], *, dev: str) -> Result:
    """Return the result with P, R, F1 and accuracy at thresholds chosen on the data `dev`."""
    relevant = np.array([item["relevant"] for item in result.items])

    def figures(name: str, scores: list[float]) -> dict[str, float]:
        return metrics.classification(np.array(scores) >= chosen[name], relevant)

    own = figures(result.system, [item["score"] for item in result.items])
    baselines = {
        name: {**found, **figures(name, [item["baselines"][name] for item in result.items])}
        for name, found in result.baselines.items()
    }
    settings = {per_item.threshold_name(None): chosen[result.system]}
    settings |= {per_item.threshold_name(name): chosen[name] for name in result.baselines}
    where = "the same data, so they are optimistic" if dev == result.name else dev
    return dataclasses.replace(
        result,
        metrics=dict(result.metrics) | own,
        baselines=baselines,
        settings=dict(result.settings) | settings,
        notes=[
            *result.notes,
            f"P, R, F1 and accuracy are at thresholds that were chosen by F1 on {where}.",
        ],
    )


def predictions(result: Result) -> str:
    """Return the module's scores and labels as the organisers' scorer reads them.

    A line is query, candidate, 0 (the scorer reads no rank), score and label, tab-separated, in
    the order of the question file. Without a threshold every label is false.
    """
    threshold = result.settings.get(per_item.threshold_name(None), float("inf"))
    rows = [
        (
            item["query_id"],
            item["candidate_id"],
            "0",
            repr(item["score"]),
            "true" if item["score"] >= threshold else "false",
        )
        for item in result.items
    ]
    return "".join("\t".join(row) + "\n" for row in rows)

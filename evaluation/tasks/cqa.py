"""Community question answering, SemEval Task 3 English, subtask B (section 4.4).

Ranks the forum questions that a search engine returned for a new question by their cosine with it.
Of `.relevancy` files, which have no text, only the search engine's order is scored.

P, R, F1 and accuracy: a score from a threshold on is a yes, and each system's threshold is that of
its highest F1 on a dev file.
"""

import dataclasses
from collections.abc import Callable, Mapping
from functools import cache, partial
from pathlib import Path

import numpy as np

from common.errors import InputError
from common.text_files import Source, TextPairs
from evaluation.data import cqa_files
from evaluation.data.cqa_files import Candidate
from evaluation.metrics import ranking, similarity
from evaluation.results import measure
from evaluation.results.result import CEILING, Result
from evaluation.results.store import Evaluation

SEARCH_ENGINE = "search_engine"
METRICS = ("map", "avg_rec", "mrr")
LABEL_METRICS = ("precision", "recall", "f1", "accuracy")


def evaluations(path: Path, load: Callable, *, seed: int = 0) -> list[Evaluation]:
    """Return the evaluation of each data set; thresholds are chosen on that named "dev", if any."""
    data = {source: cqa_files.read(source) for source in cqa_files.find(path)}
    chosen_on = next((source for source in data if "dev" in source.name.lower()), None)
    encoder = load(texts for one in data.values() for texts in one.texts())

    @cache
    def chosen() -> dict[str, float]:
        return thresholds(evaluate(encoder, data[chosen_on])) if chosen_on else {}

    def compute(source: Source) -> Result:
        result = evaluate(encoder, data[source])
        if chosen_on is None or result.system not in chosen():
            return result
        return classified(result, chosen(), dev=chosen_on.name)

    return [
        Evaluation(
            source=source,
            learned_from=[chosen_on] if chosen_on and chosen_on != source else [],
            compute=partial(compute, source),
            module=encoder.provenance() if encoder and data[source].pairs[0].query else None,
        )
        for source in data
    ]


def evaluate(encoder, data: TextPairs[Candidate]) -> Result:
    """Rank each query's candidates by cosine, or dot product, or as the search engine does."""
    candidates, has_text = data.pairs, bool(data.pairs[0].query)
    scores = engine = [candidate.engine_score for candidate in candidates]
    answered = {candidate.query_id for candidate in candidates if candidate.relevant}
    others = {CEILING: [float(bool(candidate.relevant)) for candidate in candidates]}
    if has_text:
        if encoder is None:
            raise InputError(f"{data.name} has questions to rank: --module is needed")
        if getattr(encoder, "gives_embeddings", True):
            scores = similarity.cosine(*similarity.of_pairs(encoder.encode, data.texts())).tolist()
        else:
            queries, texts = zip(*data.texts(), strict=True)
            products = encoder.encode_inputs(queries) * encoder.encode_responses(texts)
            scores = np.asarray(products.sum(axis=1)).ravel().tolist()
        overlaps = similarity.word_overlaps(data.texts())
        others |= {SEARCH_ENGINE: engine, "word_overlap": overlaps}
    result = Result(
        task="cqa",
        name=data.name,
        system="module" if has_text else SEARCH_ENGINE,
        n=len({candidate.query_id for candidate in candidates}),
        counts={"candidates": len(candidates), "queries_with_a_relevant_candidate": len(answered)},
        items=[
            {
                "query_id": candidate.query_id,
                "candidate_id": candidate.id,
                "relevant": candidate.relevant,
                "score": float(scores[i]),
                "baselines": {name: float(column[i]) for name, column in others.items()},
            }
            for i, candidate in enumerate(candidates)
        ],
    )
    return measure.measured(result, METRICS)


def thresholds(dev: Result) -> dict[str, float]:
    """Return for each system of a result the threshold that gives it the highest F1 there."""
    relevant = np.array([item["relevant"] for item in dev.items])
    columns = {dev.system: [item["score"] for item in dev.items]}
    columns |= {name: [item["baselines"][name] for item in dev.items] for name in dev.baselines}
    best = ranking.best_threshold
    return {name: best(np.array(column), relevant) for name, column in columns.items()}


def classified(result: Result, chosen: Mapping[str, float], *, dev: str) -> Result:
    """Return the result with P, R, F1 and accuracy at thresholds chosen on the data `dev`."""
    settings = dict(result.settings) | {measure.threshold_name(None): chosen[result.system]}
    settings |= {measure.threshold_name(name): chosen[name] for name in result.baselines}
    where = "the same data, so they are optimistic" if dev == result.name else dev
    note = f"P, R, F1 and accuracy are at thresholds that were chosen by F1 on {where}."
    result = dataclasses.replace(result, settings=settings, notes=[*result.notes, note])
    return measure.measured(result, (*METRICS, *LABEL_METRICS))

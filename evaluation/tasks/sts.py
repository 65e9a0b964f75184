"""Semantic textual similarity (section 4.3): how well scores correlate with human judgement.

The score of a pair is -arccos(cosine) of its embeddings. With a tuned matrix (`sts_tuning.py`)
the embeddings are transformed first and the score is equation 2's, 5 (1 - arccos(cosine) / pi).
A module that gives no embeddings but has the signature `similarity` is scored by that.
"""

import dataclasses
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from common import sts
from common.errors import InputError
from common.sts import Columns, SimilarityData
from common.text_files import Source
from evaluation.data import overlap, sts_benchmark
from evaluation.encoders import pair_signatures
from evaluation.results import measure
from evaluation.results.result import TUNED, Result
from evaluation.tasks import similarity
from evaluation.tasks.evaluate import Evaluation

METRICS = ("pearson", "spearman")


def evaluations(
    path: Path, load: Callable, *, seed: int = 0, columns: Sequence | None = None
) -> list[Evaluation]:
    """Return the evaluation of each data set of a path; `load` gives the encoder, after reading.

    `columns` are those of a CSV or TSV file with a header, as in `Columns`.
    """
    named = Columns(*columns) if columns else None
    settings: dict = {}
    if named:
        settings = {"columns": ", ".join(named[:3]), "quotes": named.quotes}
        if len(set(named[:3])) < len(named[:3]):
            raise InputError(f"--columns: {settings['columns']}; three different ones are needed")
    sources = sts.sources(path)
    data = [sts.read(source, named) for source in sources]
    encoder = load()
    return [
        Evaluation(
            source=source,
            compute=partial(evaluate, encoder, one, settings=settings),
            module=encoder.provenance(),
            settings=settings,
        )
        for source, one in zip(sources, data, strict=True)
    ]


def tuning_sources(path: Path) -> tuple[Source, Source]:
    """Return the train and the dev file, to learn the matrix on and to choose it on.

    Raises:
      InputError: if one is missing.
    """
    dev = next((source for source in sts.sources(path) if source.name == "sts-dev"), None)
    if dev is None:
        raise InputError(f"{path}: --tune chooses on sts-dev.csv, which is not there")
    return sts.train_source(path), dev


def tuned_evaluations(
    path: Path, encoder, *, matrix: Callable[[], np.ndarray], learned_from: Sequence[Source]
) -> list[Evaluation]:
    """Return the evaluation of each data set of a path after the matrix that `matrix` gives."""

    def compute(source: Source) -> Result:
        name = f"{source.name}{TUNED}"
        return evaluate_tuned(encoder, sts.read(source), matrix=matrix(), name=name)

    return [
        Evaluation(
            source=dataclasses.replace(source, name=f"{source.name}{TUNED}"),
            learned_from=learned_from,
            compute=partial(compute, source),
            module=encoder.provenance(),
        )
        for source in sts.sources(path)
    ]


def evaluate(encoder, data: SimilarityData, *, settings: Mapping | None = None) -> Result:
    """Score every pair of the module as it is, and correlate with the gold scores.

    `settings` are those of the result, such as the names of the columns.
    """
    left, right = zip(*data.texts(), strict=True)
    notes = []
    if not getattr(encoder, "gives_embeddings", True):
        scores = pair_signatures.similarity(encoder, left, right)
        notes.append("The module gives no embeddings: scores are those of its similarity.")
    else:
        embeddings = encoder.encode([*left, *right])
        scores = similarity.negative_angle(embeddings[: len(left)], embeddings[len(left) :])
    result = of_scores(data, scores, notes=notes)
    return dataclasses.replace(result, settings=dict(settings or {}))


def evaluate_tuned(encoder, data: SimilarityData, *, matrix: np.ndarray, name: str) -> Result:
    """Score every pair by equation 2 after the matrix, float32 [dim, dim], beside the untuned.

    `name` is the result's, which differs from the untuned one's.
    """
    left, right = zip(*data.texts(), strict=True)
    count, embeddings = len(left), encoder.encode([*left, *right])
    untuned = similarity.negative_angle(embeddings[:count], embeddings[count:])
    tuned = embeddings @ matrix
    scores = similarity.scale_0_to_5(similarity.negative_angle(tuned[:count], tuned[count:]))
    result = of_scores(data, scores, others={"untuned": untuned}, system="module_tuned")
    return dataclasses.replace(result, name=name)


def require_defined(results: Sequence[Result]) -> None:
    """Raise InputError if no result has a correlation: every pair has the same score."""
    figures = [result.metrics["pearson"] for result in results]
    if all(figure is None or np.isnan(figure) for figure in figures):
        raise InputError(
            f"{results[0].name}: the module gives each of the {results[0].n:,} pairs the same "
            "score; a correlation needs two values"
        )


def of_scores(
    data: SimilarityData,
    scores: np.ndarray,
    *,
    others: Mapping[str, np.ndarray] | None = None,
    system: str = "module",
    notes: list[str] | None = None,
) -> Result:
    """Return the result of scores, float [pairs], beside those of other systems."""
    pairs = data.pairs
    others = {"word_overlap": _overlaps(data)} | dict(others or {})
    repeats = overlap.repeats((pair.sentence1, pair.sentence2, pair.gold) for pair in pairs)
    notes = list(notes or [])
    if other := sts_benchmark.difference(data.name, Counter(pair.genre for pair in pairs)):
        notes.append(f"{other}, so this is other data.")
    result = Result(
        task="sts",
        name=data.name,
        system=system,
        metrics={},
        n=len(pairs),
        counts={"unjudged_pairs": data.unjudged} | repeats,
        notes=notes,
        items=[
            {
                "gold": pair.gold,
                "score": float(scores[i]),
                "genre": pair.genre,
                "sentence1": pair.sentence1,
                "sentence2": pair.sentence2,
                "baselines": {name: float(row[i]) for name, row in others.items()},
            }
            for i, pair in enumerate(pairs)
        ],
    )
    return measure.measured(
        result,
        (*METRICS, "mean_of_sets") if data.sets else METRICS,
        groups=sorted({pair.genre for pair in pairs} - {""}),
        group_metrics=METRICS,
    )


def _overlaps(data: SimilarityData) -> np.ndarray:
    """Return the word overlap of each pair: float64 [n] in [0, 1]."""
    words = ((similarity.words(left), similarity.words(right)) for left, right in data.texts())
    return np.array([similarity.word_overlap(left, right) for left, right in words])

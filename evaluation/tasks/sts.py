"""Semantic textual similarity (section 4.3): how well scores follow people's.

The score of a pair is -arccos(cosine) of its embeddings. With a tuned matrix (`sts_tuning.py`)
the embeddings are transformed first and the score is equation 2's, 5 (1 - arccos(cosine) / pi).
A module that gives no embeddings but has the signature `similarity` is scored by that.
"""

import dataclasses
from collections import Counter
from collections.abc import Mapping

import numpy as np

from evaluation.analysis import overlap
from evaluation.data.sts_files import OFFICIAL_COUNTS, Pair, SimilarityData
from evaluation.encoders import pair_signatures
from evaluation.metrics import metrics
from evaluation.results.result import Result
from evaluation.tasks import similarity

Scores = np.ndarray


def evaluate(encoder, data: SimilarityData) -> Result:
    """Score every pair of the module as it is, and correlate with the gold scores."""
    left, right = [p.sentence1 for p in data.pairs], [p.sentence2 for p in data.pairs]
    notes = []
    if not getattr(encoder, "gives_embeddings", True):
        scores = pair_signatures.similarity(encoder, left, right)
        notes.append("The module gives no embeddings: scores are those of its similarity.")
    else:
        embeddings = encoder.encode(left + right)
        scores = similarity.negative_angle(embeddings[: len(left)], embeddings[len(left) :])
    return of_scores(data, scores, notes=notes)


def evaluate_tuned(encoder, data: SimilarityData, *, matrix: np.ndarray, name: str) -> Result:
    """Score every pair by equation 2 after the matrix, float32 [dim, dim], beside the untuned.

    `name` is the result's, which differs from the untuned one's.
    """
    count = len(data.pairs)
    embeddings = encoder.encode(
        [p.sentence1 for p in data.pairs] + [p.sentence2 for p in data.pairs]
    )
    untuned = similarity.negative_angle(embeddings[:count], embeddings[count:])
    tuned = embeddings @ matrix
    scores = similarity.scale_0_to_5(similarity.negative_angle(tuned[:count], tuned[count:]))
    found = of_scores(data, scores, others={"untuned": untuned}, system="module_tuned")
    return dataclasses.replace(found, name=name)


def of_scores(
    data: SimilarityData,
    scores: Scores,
    *,
    others: Mapping[str, Scores] | None = None,
    system: str = "module",
    notes: list[str] | None = None,
) -> Result:
    """Return the result of scores, float [pairs], beside those of other systems."""
    pairs = data.pairs
    others = {"word_overlap": _overlaps(pairs)} | dict(others or {})
    gold = np.array([pair.gold for pair in pairs])
    genres = np.array([pair.genre for pair in pairs])
    sets = genres if data.sets else None
    return Result(
        task="sts",
        name=data.name,
        system=system,
        metrics=_correlations(scores, gold, sets=sets),
        n=len(pairs),
        groups={
            str(genre): {
                "n": int((genres == genre).sum()),
                "metrics": _correlations(scores[genres == genre], gold[genres == genre]),
            }
            for genre in sorted(set(genres))
        },
        baselines={name: _correlations(row, gold, sets=sets) for name, row in others.items()},
        counts={"unjudged_pairs": data.unjudged} | _repeats(pairs),
        notes=[*(notes or []), *_unofficial(data)],
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


def _correlations(
    scores: Scores, gold: np.ndarray, *, sets: np.ndarray | None = None
) -> dict[str, float]:
    """Return both correlations of two [n] vectors; with data sets, also their mean Pearson.

    That mean, by the sets' sizes, is what SemEval's years report; pooled it is another figure.
    """
    found = {
        "pearson": metrics.pearson(scores, gold),
        "spearman": metrics.spearman(scores, gold),
    }
    if sets is not None:
        by_set = [(sets == name).nonzero()[0] for name in sorted(set(sets))]
        found["mean_of_sets"] = float(
            np.average(
                [metrics.pearson(scores[rows], gold[rows]) for rows in by_set],
                weights=[len(rows) for rows in by_set],
            )
        )
    return found


def _repeats(pairs: list[Pair]) -> dict[str, int]:
    """Count pairs that occur again, and those whose gold scores then differ."""
    return overlap.repeats((pair.sentence1, pair.sentence2, pair.gold) for pair in pairs)


def _unofficial(data: SimilarityData) -> list[str]:
    """Say so where a file has a benchmark file's name but not its pairs."""
    official = OFFICIAL_COUNTS.get(data.name)
    if official is None or dict(Counter(pair.genre for pair in data.pairs)) == official:
        return []
    return [
        f"{data.name} has {len(data.pairs):,} pairs here and {sum(official.values()):,} in the "
        "STS Benchmark: it is other data."
    ]


def _overlaps(pairs: list[Pair]) -> Scores:
    """Return the word overlap of each pair: float64 [n] in [0, 1]."""
    return np.array(
        [
            similarity.word_overlap(
                similarity.words(pair.sentence1), similarity.words(pair.sentence2)
            )
            for pair in pairs
        ]
    )

"""Semantic textual similarity (section 4.3): how well scores correlate with human judgement.

The score of a pair is -arccos(cosine) of its embeddings; `cosine_pearson` takes the cosine, as
other libraries do. With a tuned matrix (`probes/sts_tuning.py`) it is equation 2's, of the
transformed embeddings: 5 (1 - arccos(cosine) / pi).
"""

from collections.abc import Callable, Collection
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from common import sts
from common.errors import InputError
from common.sts import Columns, SimilarityData
from common.tables import dialect_of
from common.text_files import Source
from evaluation.data import overlap
from evaluation.metrics import similarity
from evaluation.results import measure
from evaluation.results.result import TUNED, Result
from evaluation.results.store import Evaluation

METRICS = ("pearson", "spearman", "cosine_pearson")
WITHOUT_REPEATS = "pearson_without_repeats"
"""That of STSBenchmark.v2: without pairs that the benchmark's files have more than once."""
MEANS_OF_SETS = ("mean_of_sets", "cosine_mean_of_sets")
OFFICIAL = {"sts-train": 5749, "sts-dev": 1500, "sts-test": 1379}
"""Pairs of the STS Benchmark's files (section 4.3)."""


def evaluations(
    path: Path,
    load: Callable,
    *,
    seed: int = 0,
    columns: Columns | None = None,
    matrix: Callable[[Any], np.ndarray] | None = None,
) -> list[Evaluation]:
    """Return the evaluation of each data set of a path; `columns` are those of a CSV file.

    With `matrix`, which learns one of an encoder as soon as it is needed, that of the embeddings
    times it; the words of the file that it is learned on count, too.
    """
    named: dict[str, Any] = {}
    if columns:
        encloses = dialect_of(path, columns.dialect).encloses
        named = {"columns": ", ".join(columns[:3]), "quotes": encloses}
        named |= {"escape": columns.dialect.escape} if columns.dialect.escape else {}
    data = {source: sts.read(source, columns) for source in sts.sources(path)}
    learned_from = tuning_sources(path) if matrix else ()
    every = [*map(sts.read, learned_from[:1]), *data.values()]
    encoder = load(texts for one in every for texts in one.texts())
    repeated = set() if columns else sts.repeated(path)

    def compute(source: Source) -> Result:
        times = matrix(encoder) if matrix else None
        return evaluate(encoder, data[source], repeated=repeated, matrix=times)

    of: Any = {"module": encoder.provenance(), "settings": named, "learned_from": learned_from}
    end = TUNED if matrix else ""
    return [
        Evaluation(source=replace(one, name=one.name + end), compute=partial(compute, one), **of)
        for one in data
    ]


def tuning_sources(path: Path) -> tuple[Source, Source]:
    """Return the train and the dev file, to learn the matrix on and to choose it on."""
    dev = next((source for source in sts.sources(path) if source.name == "sts-dev"), None)
    if dev is None:
        raise InputError(f"{path}: --tune chooses on sts-dev.csv, which is not there")
    return sts.train_source(path), dev


def evaluate(
    encoder,
    data: SimilarityData,
    *,
    repeated: Collection[frozenset[str]] = (),
    matrix: np.ndarray | None = None,
) -> Result:
    """Score every pair, and correlate with the gold scores; without `repeated` pairs, too.

    With a matrix, float32 [dim, dim], scores are equation 2's, beside those without it.
    """
    pairs, texts, name, system = data.pairs, data.texts(), data.name, "module"
    others: dict[str, Any] = {"word_overlap": similarity.word_overlaps(texts)}
    notes, official = [], OFFICIAL.get(name, len(pairs))
    left, right = similarity.of_pairs(encoder.encode, texts)
    cosines = similarity.cosine(left, right)
    scores = -np.arccos(cosines)
    # Of texts without a common word, TF-IDF and BM25 rightly say so.
    if scores.min() == scores.max() and not getattr(encoder, "sparse", False):
        raise InputError(f"{name}: the encoder gives all pairs the same score")
    if matrix is not None:
        others["untuned"] = scores
        cosines = similarity.cosine(left @ matrix, right @ matrix)
        scores = 5.0 * (1.0 - np.arccos(cosines) / np.pi)
        name, system = f"{name}{TUNED}", "module_tuned"
    if official != len(pairs):
        both = f"{len(pairs):,} pairs here and {official:,} in the STS Benchmark"
        notes.append(f"{data.name} has {both}, so this is other data.")
    if not any(pair.genre for pair in pairs):  # of no benchmark
        golds = [pair.gold for pair in pairs]
        notes.append(f"Gold scores are from {min(golds):g} to {max(golds):g}.")
    result = Result(
        task="sts",
        name=name,
        system=system,
        n=len(pairs),
        counts=data.counts | overlap.repeats(pair[:3] for pair in pairs),
        notes=notes,
        items=[
            pair._asdict()
            | {"score": float(scores[i]), "cosine": float(cosines[i])}
            | {"baselines": {other: float(row[i]) for other, row in others.items()}}
            | ({"repeated": True} if sts.same_pair(texts[i]) in repeated else {})
            for i, pair in enumerate(pairs)
        ],
    )
    metrics = (*METRICS, *(MEANS_OF_SETS if data.sets else ()))
    return measure.measured(
        result,
        (*metrics, WITHOUT_REPEATS) if repeated else metrics,
        groups=sorted({pair.genre for pair in pairs} - {""}),
        group_metrics=METRICS,
    )

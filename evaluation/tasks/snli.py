"""Natural language inference (section 4.2, table 2): whether a premise entails a hypothesis.

A module without the signature `classify_nli` gets a classifier that is trained here on its
embeddings (`probes/nli_classifier.py`).
"""

from collections import Counter
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from common.errors import InputError
from common.text_files import Source
from common.tfrecord import LABELS
from evaluation.data import snli_files
from evaluation.data.snli_files import NliData
from evaluation.results import measure
from evaluation.results.result import Result
from evaluation.results.store import Evaluation

OWN_LABELS = "Labels are the module's own, of its signature classify_nli."
"""What a result notes where no classifier was trained for it."""


def evaluations(path: Path, load: Callable, *, seed: int = 0) -> list[Evaluation]:
    """Return the evaluation of each dev and test set, or of the one file.

    A classifier is trained on the train sets of the folder and chosen on its dev sets.
    """
    splits = snli_files.find(path)
    every = [source for of in splits.values() for source in of]
    scored = every if path.is_file() else [*splits.get("dev", ()), *splits.get("test", ())]
    data = {source: snli_files.read(source) for source in scored}
    encoder = load(texts for each in map(snli_files.read, every) for texts in each.texts())
    training = [splits[name] for name in ("train", "dev") if name in splits]
    if _has_head(encoder) or len(training) < 2:
        training = []

    @cache
    def classifier():
        """Train once, and only if a result is missing."""
        from evaluation.probes import nli_classifier

        train, dev = (snli_files.read(*sources) for sources in training)
        return nli_classifier.train(encoder, train, dev, held_out=data.values(), seed=seed)

    def compute(source: Source) -> Result:
        return evaluate(encoder, data[source], classifier=classifier() if training else None)

    learned_from = [source for sources in training for source in sources]
    of: Any = {"learned_from": learned_from, "module": encoder.provenance()}
    return [Evaluation(source=source, compute=partial(compute, source), **of) for source in scored]


def _has_head(encoder) -> bool:
    return "classify_nli" in getattr(encoder, "signatures", {})


def evaluate(encoder, data: NliData, *, classifier=None) -> Result:
    """Classify every pair, without `classify_nli` by `classifier`; return the accuracies."""
    if _has_head(encoder):
        probabilities, note = encoder.classify_nli(*zip(*data.texts(), strict=True)), OWN_LABELS
    elif classifier is not None:
        probabilities, note = classifier.probabilities(encoder, data), classifier.about
    else:
        lacks = "no signature classify_nli, and no train and dev file for a classifier beside it"
        raise InputError(f"{data.name}: the module has {lacks}")
    counts: Counter[str] = Counter(pair.gold for pair in data.pairs)
    labels = [label for label in LABELS if counts[label]]
    majority = counts.most_common(1)[0][0]
    result = Result(
        task="snli",
        name=data.name,
        n=len(data.pairs),
        counts=data.counts,
        notes=[note],
        items=[
            pair._asdict()
            | {
                "predicted": LABELS[int(np.argmax(row))],
                "probabilities": [round(float(p), 6) for p in row],
                "baselines": {"majority": majority},
            }
            for pair, row in zip(data.pairs, probabilities, strict=True)
        ],
    )
    return measure.measured(result, ["accuracy"], groups=labels)

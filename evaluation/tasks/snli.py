"""Natural language inference (section 4.2, table 2): whether a premise entails a hypothesis.

A module with the signature `classify_nli` classifies by that; for any other module, a classifier is
trained here on its embeddings (`nli_classifier.py`), which shows how much about NLI they hold.
"""

from collections import Counter
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path

import numpy as np

from common.errors import InputError
from evaluation.data import snli_files
from evaluation.data.snli_files import LABELS, NliData
from evaluation.encoders import pair_signatures
from evaluation.results import measure
from evaluation.results.result import Result
from evaluation.tasks.evaluate import Evaluation

OWN_LABELS = "Labels are the module's own, of its signature classify_nli."
"""What a result notes where no classifier was trained for it."""


def evaluations(
    path: Path,
    load: Callable,
    *,
    seed: int = 0,
    train: Path | None = None,
    dev: Path | None = None,
) -> list[Evaluation]:
    """Return the evaluation of dev and test, or of the one file; `load` gives the encoder.

    A classifier is trained on `train` and chosen on `dev`, by default those in the folder.
    """
    splits = snli_files.find(path)
    scored = [splits[name] for name in splits if path.is_file() or name in ("dev", "test")]
    data = {source.name: snli_files.read(source) for source in scored}
    encoder = load()
    given = [snli_files.source(file) for file in (train, dev) if file]
    if pair_signatures.has(encoder, pair_signatures.CLASSIFY_NLI):
        if given:
            raise InputError(
                f"--train, --dev: {given[0].files[0]}; accepted with a module that has no "
                f"signature {pair_signatures.CLASSIFY_NLI}"
            )
        training = []
    else:
        learn = [
            snli_files.source(file) if file else splits.get(split)
            for split, file in (("train", train), ("dev", dev))
        ]
        training = [source for source in learn if source] if all(learn) else []

    @cache
    def classifier():
        """Train once, and only if a result is missing."""
        if not training:
            return None
        from evaluation.tasks import nli_classifier

        files = map(snli_files.read, training)
        return nli_classifier.train(encoder, *files, held_out=data.values(), seed=seed)

    def compute(name: str) -> Result:
        return evaluate(encoder, data[name], classifier=classifier())

    return [
        Evaluation(
            source=source,
            learned_from=training,
            compute=partial(compute, source.name),
            module=encoder.provenance(),
        )
        for source in scored
    ]


def evaluate(encoder, data: NliData, *, classifier=None) -> Result:
    """Classify every pair; return the accuracy, over all and by gold label.

    `classifier` is used where the module has no `classify_nli`.
    """
    pairs = data.pairs
    premises, hypotheses = zip(*data.texts(), strict=True)
    if pair_signatures.has(encoder, pair_signatures.CLASSIFY_NLI):
        probabilities = pair_signatures.classify(encoder, premises, hypotheses)
        note = OWN_LABELS
    elif classifier is not None:
        probabilities = classifier.probabilities(encoder, premises, hypotheses)
        note = classifier.about
    else:
        raise InputError(
            f"{data.name}: the module has no signature {pair_signatures.CLASSIFY_NLI}, and there "
            "is not a train and dev file to train a classifier on"
        )
    counts = Counter(LABELS.index(pair.gold) for pair in pairs)
    majority = LABELS[counts.most_common(1)[0][0]]
    result = Result(
        task="snli",
        name=data.name,
        system="module",
        metrics={},
        n=len(pairs),
        counts={"without_label": data.without_label},
        notes=[note],
        items=[
            {
                "premise": pair.premise,
                "hypothesis": pair.hypothesis,
                "gold": pair.gold,
                "predicted": LABELS[int(np.argmax(row))],
                "probabilities": [round(float(p), 6) for p in row],
                "baselines": {"majority": majority},
            }
            for pair, row in zip(pairs, probabilities, strict=True)
        ],
    )
    groups = [label for i, label in enumerate(LABELS) if counts[i]]
    return measure.measured(result, ["accuracy"], groups=groups)

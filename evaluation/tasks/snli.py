"""Natural language inference (section 4.2, table 2): whether a premise entails a hypothesis.

The module's own `classify_nli` answers where it has that signature; else a classifier trained
here on embeddings (`nli_classifier.py`), which tells how much of inference they hold.
"""

from collections import Counter

import numpy as np

from evaluation.data.snli_files import LABELS, NliData
from evaluation.encoders import pair_signatures
from evaluation.errors import InputError
from evaluation.metrics import metrics
from evaluation.results.result import Result

OWN_LABELS = "Labels are the module's own, of its signature classify_nli."
"""What a result notes where no classifier was trained for it."""


def evaluate(encoder, data: NliData, *, classifier=None) -> Result:
    """Classify every pair; return the accuracy, over all and by gold label.

    `classifier` is used where the module has no head of its own.
    """
    pairs = data.pairs
    premises, hypotheses = [p.premise for p in pairs], [p.hypothesis for p in pairs]
    own_head = pair_signatures.has(encoder, pair_signatures.CLASSIFY_NLI)
    if own_head:
        probabilities = pair_signatures.classify(encoder, premises, hypotheses)
        note = OWN_LABELS
    elif classifier is not None:
        probabilities = classifier.probabilities(encoder, premises, hypotheses)
        note = classifier.about
    else:
        raise InputError(
            f"{data.name}: the module has no signature {pair_signatures.CLASSIFY_NLI}, and there "
            "is no train and dev file to train a classifier on"
        )
    gold = np.array([LABELS.index(pair.gold) for pair in pairs])
    predicted = probabilities.argmax(axis=1)
    majority = Counter(gold.tolist()).most_common(1)[0][0]
    return Result(
        task="snli",
        name=data.name,
        system="module",
        metrics={"accuracy": metrics.accuracy(predicted, gold)},
        n=len(pairs),
        groups={
            label: {
                "n": int((gold == i).sum()),
                "metrics": {"accuracy": metrics.accuracy(predicted[gold == i], gold[gold == i])},
            }
            for i, label in enumerate(LABELS)
            if (gold == i).any()
        },
        baselines={"majority": {"accuracy": float(np.mean(gold == majority))}},
        counts={"without_label": data.without_label},
        notes=[note],
        items=[
            {
                "premise": pair.premise,
                "hypothesis": pair.hypothesis,
                "gold": pair.gold,
                "predicted": LABELS[label],
                "probabilities": [round(float(p), 6) for p in row],
                "baselines": {"majority": LABELS[majority]},
            }
            for pair, label, row in zip(pairs, predicted, probabilities, strict=True)
        ],
    )

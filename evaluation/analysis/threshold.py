r"""From which cosine on two texts match: chosen on pairs that somebody labelled.

    python -m evaluation threshold --module module/ --data labelled.csv \
        --columns question match label

A label is 1 for texts that match and 0 for others. A few dozen pairs will do.
"""

import numpy as np

import evaluation
from common import sts as sts_files
from common.errors import InputError
from common.text_files import Source
from evaluation.metrics import ranking, similarity
from evaluation.options import ThresholdOptions


def run(options: ThresholdOptions) -> None:
    """Print the threshold of the highest F1, and how well it divides the pairs."""
    source = Source(options.data.stem, (options.data,))
    data = sts_files.read(source, options.named_columns())
    labels = np.array([pair.gold for pair in data.pairs])
    if set(labels) != {0.0, 1.0}:
        other = next(iter(sorted(set(labels) - {0.0, 1.0})), labels[0])
        raise InputError(f"--data: {options.data}: the label {other:g}; accepted: both 0 and 1")
    encoder = evaluation.load_encoder(options.module)
    cosines = similarity.cosine(*similarity.of_pairs(encoder.encode, data.texts()))
    threshold = ranking.best_threshold(cosines, labels == 1)
    counts = ranking.label_counts(cosines >= threshold, labels == 1)
    scores = ranking.from_counts(counts)
    said = ", ".join(f"{name} {value:.3f}" for name, value in scores.items())
    print(f"threshold {threshold:.3f}")
    print(f"{said}, on the {len(labels)} pairs that it was chosen on")

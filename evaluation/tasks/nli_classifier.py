"""A classifier of premise and hypothesis by their embeddings, trained here (sections 2.3, 4.2).

Its features are the paper's (u1, u2, |u1 - u2|, u1 * u2); the module's weights stay as they are.
Softmax regression and one hidden layer of 512, the paper's, are both trained on embeddings of
length 1 and of length sqrt(dim), each for as many passes as the dev set's accuracy asks for, and
the dev set chooses among the four: dense embeddings are learned better from numbers of size one,
sparse ones, such as TF-IDF's, from their own.
"""

import dataclasses
import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf
import tf_keras

from evaluation.analysis import overlap
from evaluation.data.snli_files import LABELS, NliData
from evaluation.errors import InputError
from evaluation.metrics import metrics

HIDDEN_SIZES: tuple[int, ...] = (0, 512)
BATCH = 256
MOST_PASSES = 30
PATIENCE = 3  # passes without a better dev accuracy
LEARNING_RATE = 1e-3


@dataclass(frozen=True)
class Classifier:
    """A trained classifier, its accuracy on dev, and a sentence about how it came to be."""

    network: Any
    dev_accuracy: float
    about: str

    def probabilities(
        self, encoder, premises: Sequence[str], hypotheses: Sequence[str]
    ) -> np.ndarray:
        """Return float32 [pairs, 3] in the order of LABELS."""
        return self.network.predict(
            _embeddings(encoder, premises, hypotheses), batch_size=BATCH, verbose=0
        )


def train(
    encoder, training: NliData, dev: NliData, *, held_out: Iterable[NliData], seed: int
) -> Classifier:
    """Train on one file, choose on another; the seed decides the first weights and the order.

    Pairs that share a sentence with what will be classified are left out of training.

    Raises:
      InputError: if none is left.
    """
    training, left_out = _apart(training, held_out)
    inputs, labels = _examples(encoder, training)
    dev_inputs, dev_labels = _examples(encoder, dev)
    best: Classifier | None = None
    dim = inputs[0].shape[1]
    for hidden, length in itertools.product(HIDDEN_SIZES, (1.0, dim**0.5)):
        tf_keras.utils.set_random_seed(seed)
        network = _network(dim, hidden=hidden, length=length)
        stop = tf_keras.callbacks.EarlyStopping(
            "val_accuracy", patience=PATIENCE, restore_best_weights=True
        )
        network.fit(
            inputs,
            labels,
            batch_size=BATCH,
            epochs=MOST_PASSES,
            validation_data=(dev_inputs, dev_labels),
            callbacks=[stop],
            verbose=0,
        )
        predicted = network.predict(dev_inputs, batch_size=BATCH, verbose=0).argmax(axis=1)
        accuracy = metrics.accuracy(predicted, dev_labels)
        if best is None or accuracy > best.dev_accuracy:
            shape = f"one hidden layer of {hidden}" if hidden else "softmax regression"
            about = (
                f"The module has no classify_nli: labels are those of a classifier ({shape}) on "
                f"(u1, u2, |u1-u2|, u1*u2) of embeddings of length {length:.3g}, "
                f"trained here on {len(labels):,} pairs "
                f"({left_out:,} more share a sentence with what is classified) and chosen, "
                f"with its number of passes, on the {len(dev_labels):,} of {dev.name}."
            )
            best = Classifier(network, accuracy, about)
    assert best is not None
    return best


def _apart(training: NliData, held_out: Iterable[NliData]) -> tuple[NliData, int]:
    """Return the pairs of which no sentence is held out, and how many others there were."""
    of_training = {training.name: [(pair.premise, pair.hypothesis) for pair in training.pairs]}
    others = ((pair.premise, pair.hypothesis) for data in held_out for pair in data.pairs)
    shared = set(overlap.find(of_training, others)[training.name].texts)
    kept = [pair for row, pair in enumerate(training.pairs) if row not in shared]
    if not kept:
        raise InputError(
            f"{training.name}: each of its {len(shared)} pairs shares a sentence with what is to "
            "be classified; another train file is needed"
        )
    return dataclasses.replace(training, pairs=kept), len(shared)


def _network(dim: int, *, hidden: int, length: float):
    """Return a network from two embeddings [batch, dim] to probabilities [batch, 3].

    They are of length 1, and brought to another first.
    """
    inputs = tf_keras.Input([dim]), tf_keras.Input([dim])
    u1, u2 = (length * one for one in inputs)
    features = tf_keras.layers.Concatenate()([u1, u2, tf.abs(u1 - u2), u1 * u2])
    if hidden:
        features = tf_keras.layers.Dense(hidden, activation="tanh")(features)
    outputs = tf_keras.layers.Dense(len(LABELS), activation="softmax")(features)
    network = tf_keras.Model(list(inputs), outputs)
    network.compile(
        tf_keras.optimizers.Adam(LEARNING_RATE),
        loss="sparse_categorical_crossentropy",
        metrics=["accuracy"],
    )
    return network


def _examples(encoder, data: NliData) -> tuple[list[np.ndarray], np.ndarray]:
    """Return the embeddings of both sides, float32 [pairs, dim] each, and labels, int [pairs]."""
    inputs = _embeddings(
        encoder, [p.premise for p in data.pairs], [p.hypothesis for p in data.pairs]
    )
    return inputs, np.array([LABELS.index(pair.gold) for pair in data.pairs])


def _embeddings(encoder, premises: Sequence[str], hypotheses: Sequence[str]) -> list[np.ndarray]:
    """Encode both sides at once, so that a sentence on both is encoded once; of length 1."""
    rows = encoder.encode_inputs([*premises, *hypotheses])
    rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return [rows[: len(premises)], rows[len(premises) :]]

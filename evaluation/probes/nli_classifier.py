"""A classifier of premise and hypothesis by their embeddings, trained here (sections 2.3, 4.2).

Its features are the paper's (u1, u2, |u1 - u2|, u1 * u2); the module's weights stay as they are.

Dense embeddings: softmax regression and one hidden layer of 512, the paper's, are both trained on
embeddings of length 1 and of length sqrt(dim), with early stopping by the dev accuracy, and the dev
set chooses among the four. Sparse ones, such as TF-IDF's, whose features no dense layer holds:
scikit-learn's logistic regression, and the dev set chooses how strongly it is regularized.
"""

import dataclasses
import itertools
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
import tensorflow as tf
import tf_keras
from sklearn.linear_model import LogisticRegression

from common.errors import InputError
from common.tfrecord import LABELS
from evaluation.data import overlap
from evaluation.data.snli_files import NliData
from evaluation.metrics import similarity

HIDDEN_SIZES: tuple[int, ...] = (0, 512)
BATCH = 256
MOST_EPOCHS = 30
PATIENCE = 3  # epochs without a better dev accuracy
LEARNING_RATE = 1e-3
INVERSE_REGULARIZATION = (0.1, 1.0, 10.0)
MOST_STEPS = 300

Embeddings = list[Any]
"""Of premises and of hypotheses: float32 [pairs, dim] each, NumPy or SciPy sparse, of length 1."""
Predict = Callable[[Embeddings], np.ndarray]
"""Embeddings to probabilities, float32 [pairs, 3] in the order of LABELS."""


class Classifier(NamedTuple):
    """A trained classifier, and a sentence on how it was trained."""

    predict: Predict
    about: str

    def probabilities(self, encoder, data: NliData) -> np.ndarray:
        """Return float32 [pairs, 3] in the order of LABELS."""
        return self.predict(_embeddings(encoder, data))


def train(
    encoder, training: NliData, dev: NliData, *, held_out: Iterable[NliData], seed: int
) -> Classifier:
    """Train on one file, choose on another; the seed sets the initial weights and the order.

    Pairs that share a sentence with what will be classified are left out of training.
    """
    others = (texts for data in held_out for texts in data.texts())
    shared = overlap.find({training.name: training.texts()}, others)[training.name].texts
    kept = [pair for row, pair in enumerate(training.pairs) if row not in shared]
    if len(known := {pair.gold for pair in kept}) < 2:
        left = f"{len(kept)} pairs, labelled {', '.join(known) or 'nothing'}"
        raise InputError(f"{training.name}: {left}, share no sentence with what is classified")
    inputs, labels = _examples(encoder, dataclasses.replace(training, pairs=kept))
    dev_inputs, dev_labels = _examples(encoder, dev)
    candidates = _sparse if scipy.sparse.issparse(inputs[0]) else _dense
    trained = []
    for shape, predict in candidates(inputs, labels, dev=(dev_inputs, dev_labels), seed=seed):
        accuracy = float((predict(dev_inputs).argmax(axis=1) == dev_labels).mean())
        about = (
            f"The module has no classify_nli: labels are those of a classifier ({shape}) "
            f"on (u1, u2, |u1-u2|, u1*u2), trained here on {len(labels):,} pairs "
            f"({len(shared):,} more share a sentence with what is classified) and chosen "
            f"on the {len(dev_labels):,} of {dev.name}."
        )
        trained.append((accuracy, Classifier(predict, about)))
    return max(trained, key=itemgetter(0))[1]  # of equal ones, the first


def _dense(
    inputs: Embeddings, labels: np.ndarray, *, dev: tuple, seed: int
) -> Iterator[tuple[str, Predict]]:
    dim = inputs[0].shape[1]
    for hidden, length in itertools.product(HIDDEN_SIZES, (1.0, dim**0.5)):
        tf_keras.utils.set_random_seed(seed)
        given = tf_keras.Input([dim]), tf_keras.Input([dim])
        u1, u2 = (length * one for one in given)
        features = tf_keras.layers.Concatenate()([u1, u2, tf.abs(u1 - u2), u1 * u2])
        if hidden:
            features = tf_keras.layers.Dense(hidden, activation="tanh")(features)
        outputs = tf_keras.layers.Dense(len(LABELS), activation="softmax")(features)
        network = tf_keras.Model(list(given), outputs)
        loss, optimizer = "sparse_categorical_crossentropy", tf_keras.optimizers.Adam(LEARNING_RATE)
        network.compile(optimizer, loss=loss, metrics=["accuracy"])
        stop = tf_keras.callbacks.EarlyStopping(
            "val_accuracy", patience=PATIENCE, restore_best_weights=True
        )
        fitting = {"epochs": MOST_EPOCHS, "validation_data": dev, "callbacks": [stop]}
        of: dict[str, Any] = {"batch_size": BATCH, "verbose": 0}
        network.fit(inputs, labels, **fitting, **of)
        shape = f"one hidden layer of {hidden}" if hidden else "softmax regression"
        yield f"{shape}, embeddings of length {length:.3g}", partial(network.predict, **of)


def _sparse(
    inputs: Embeddings, labels: np.ndarray, *, dev: tuple, seed: int
) -> Iterator[tuple[str, Predict]]:
    def features(embeddings: Embeddings):
        u1, u2 = embeddings
        return scipy.sparse.hstack([u1, u2, abs(u1 - u2), u1 * u2], format="csr")

    of_training = features(inputs)
    for inverse in INVERSE_REGULARIZATION:
        model = LogisticRegression(C=inverse, max_iter=MOST_STEPS).fit(of_training, labels)

        def predict(embeddings: Embeddings, model=model) -> np.ndarray:
            probabilities = model.predict_proba(features(embeddings))
            rows = np.zeros((len(probabilities), len(LABELS)), dtype=np.float32)
            rows[:, model.classes_] = probabilities
            return rows

        yield f"logistic regression, C {inverse:g}", predict


def _examples(encoder, data: NliData) -> tuple[Embeddings, np.ndarray]:
    return _embeddings(encoder, data), np.array([LABELS.index(pair.gold) for pair in data.pairs])


def _embeddings(encoder, data: NliData) -> Embeddings:
    """Return the embeddings of premises and of hypotheses, of length 1 (sparse ones are)."""
    return list(map(similarity.unit, similarity.of_pairs(encoder.encode_inputs, data.texts())))

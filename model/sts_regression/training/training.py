"""Trains one regressor on some pairs, and scores with it (Prijatelj et al. 2017, section 3)."""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import tensorflow as tf
import tf_keras

from model.sts_regression.choices import Choices
from model.sts_regression.data.vectors import PADDING
from model.sts_regression.experiments import Experiment
from model.sts_regression.layers.regressor import IDS, Regressor

_POOL = 16
"""Batches whose pairs are sorted by length together: little padding, but not always the same
pairs in one batch."""
_AT_ONCE = 256
_SCORES = tf.TensorSpec([None], tf.float32)


class Data(NamedTuple):
    """Pairs, as rows of the table of word vectors."""

    first: Sequence[Sequence[int]]
    second: Sequence[Sequence[int]]
    scores: np.ndarray
    """float32 [n], in [0, 5]."""

    def take(self, indices: np.ndarray) -> "Data":
        """Some of the pairs."""
        return Data(
            [self.first[i] for i in indices],
            [self.second[i] for i in indices],
            self.scores[indices],
        )


class DivergedError(Exception):
    """The loss, a weight or a score is not finite any more."""

    def __init__(self, epoch: int, what: str = "the loss"):
        super().__init__(f"{what} is not finite in epoch {epoch}")
        self.epoch = epoch


def train(
    experiment: Experiment,
    choices: Choices,
    data: Data,
    *,
    table: np.ndarray,
    seed: int,
    tell: Callable[[], object] = lambda: None,
) -> tuple[Regressor, list[float]]:
    """Trains a new regressor: RMSprop, mean squared error, all pairs shuffled every epoch.

    Args:
      experiment: embedding and comparator.
      choices: everything else.
      data: what it is trained on, and all that anything is fitted to.
      table: float32 [words, dim], the word vectors.
      seed: of the weights and of the order.
      tell: called after every epoch.

    Returns:
      The regressor, and the mean loss of each epoch.

    Raises:
      DivergedError: if a loss is not finite.
    """
    regressor = Regressor(
        experiment, choices, table=table, training=[*data.first, *data.second], seed=seed
    )
    step = _step(regressor, choices)
    order = np.random.default_rng([seed, 1])
    losses = []
    for epoch in range(1, choices.epochs(experiment.epochs) + 1):
        total = 0.0
        for indices in batches(data, size=choices.batch, order=order):
            batch = data.take(indices)
            loss = step(padded(batch.first), padded(batch.second), batch.scores)
            total += float(loss) * len(indices)
        losses.append(total / len(data.scores))
        if not math.isfinite(losses[-1]):
            raise DivergedError(epoch)
        tell()
    if not all(np.isfinite(weight.numpy()).all() for weight in regressor.trainable_variables):
        raise DivergedError(len(losses), "a weight")
    return regressor, losses


def _step(regressor: Regressor, choices: Choices) -> Callable[..., tf.Tensor]:
    """One batch: its loss, and the weights moved."""
    optimizer = tf_keras.optimizers.RMSprop(choices.learning_rate)
    weights = regressor.trainable_variables
    optimizer.build(weights)

    @tf.function(input_signature=[IDS, IDS, _SCORES])
    def step(first: tf.Tensor, second: tf.Tensor, scores: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.math.squared_difference(regressor(first, second), scores))
        gradients = tape.gradient(loss, weights)
        if choices.clip_norm:
            gradients, _ = tf.clip_by_global_norm(gradients, choices.clip_norm)
        optimizer.apply_gradients(zip(gradients, weights, strict=True))
        return loss

    return step


def batches(data: Data, *, size: int, order: np.random.Generator) -> Iterator[np.ndarray]:
    """Indices of an epoch: each pair once, pairs of like length together, in random order."""
    shuffled = order.permutation(len(data.scores))
    for start in range(0, len(shuffled), _POOL * size):
        pool = shuffled[start : start + _POOL * size]
        lengths = [(len(data.first[i]) + len(data.second[i])) for i in pool]
        pool = pool[np.argsort(lengths, kind="stable")]
        parts = [pool[begin : begin + size] for begin in range(0, len(pool), size)]
        for part in order.permutation(len(parts)):
            yield parts[part]


def padded(rows: Sequence[Sequence[int]]) -> np.ndarray:
    """int32 [rows, longest], `PADDING` behind."""
    ids = np.full([len(rows), max(map(len, rows))], PADDING, np.int32)
    for place, row in enumerate(rows):
        ids[place, : len(row)] = row
    return ids


def predict(regressor: Regressor, data: Data) -> np.ndarray:
    """The scores of all pairs: float32 [n], in [0, 5]; not finite where the regressor's are not."""
    lengths = [max(len(a), len(b)) for a, b in zip(data.first, data.second, strict=True)]
    order = np.argsort(lengths, kind="stable")
    found = np.zeros(len(order), np.float32)
    for start in range(0, len(order), _AT_ONCE):
        part = data.take(order[start : start + _AT_ONCE])
        some = regressor.score(padded(part.first), padded(part.second))
        found[order[start : start + _AT_ONCE]] = some.numpy()
    return found

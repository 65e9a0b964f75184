"""Trains a regressor on pairs, and scores pairs with it (Prijatelj et al. 2017, section 3)."""

import math
from collections.abc import Iterator, Sequence

import numpy as np
import tensorflow as tf
import tf_keras

from model.sts_regression.data.prepared import Data
from model.sts_regression.data.vectors import PADDING
from model.sts_regression.settings import Settings

BATCH = 32
"""Not in the paper; Keras's default."""
_POOL = 16
"""Batches whose pairs are sorted by length together: little padding, but mixed batches."""
_PREDICTION_BATCH = 256
_IDS = tf.TensorSpec([None, None], tf.int32)
_SCORES = tf.TensorSpec([None], tf.float32)


class DivergedError(Exception):
    """The loss, a weight or a score is no longer finite in an epoch, counted from 1."""

    def __init__(self, what: str, epoch: int):
        super().__init__(f"{what} is not finite in epoch {epoch}; --gates bounded may help")
        self.epoch = epoch


def train(
    regressor: tf_keras.Model, data: Data, settings: Settings, *, epochs: int, seed: int
) -> list[float]:
    """Trains with RMSprop on the mean squared error; all pairs are shuffled every epoch.

    Args:
      regressor: the model; its weights change.
      data: the training pairs.
      settings: learning rate and clipping.
      epochs: number of passes over the pairs.
      seed: of the order of the pairs.

    Returns:
      The mean loss of each epoch.

    Raises:
      DivergedError: if a loss or a weight is not finite.
    """
    regressor.compile(
        tf_keras.optimizers.RMSprop(
            settings.learning_rate, global_clipnorm=settings.clip_norm or None
        ),
        loss="mse",
    )
    order = np.random.default_rng([seed, 1])

    def examples() -> Iterator[tuple]:
        for indices in batches(data, size=BATCH, order=order):
            batch = data.take(indices)
            yield (padded(batch.first), padded(batch.second)), batch.scores

    def check(epoch: int, logs: dict[str, float]) -> None:
        if not math.isfinite(logs["loss"]):
            raise DivergedError("the loss", epoch + 1)

    history = regressor.fit(
        tf.data.Dataset.from_generator(examples, output_signature=((_IDS, _IDS), _SCORES)),
        epochs=epochs,
        verbose=0,
        callbacks=[tf_keras.callbacks.LambdaCallback(on_epoch_end=check)],
    )
    if not all(np.isfinite(weight).all() for weight in regressor.get_weights()):
        raise DivergedError("a weight", epochs)
    return history.history["loss"]


def batches(data: Data, *, size: int, order: np.random.Generator) -> Iterator[np.ndarray]:
    """Indices for an epoch: each pair once, in random order, pairs of like length together."""
    shuffled = order.permutation(len(data.scores))
    for start in range(0, len(shuffled), _POOL * size):
        pool = shuffled[start : start + _POOL * size]
        lengths = [(len(data.first[i]) + len(data.second[i])) for i in pool]
        pool = pool[np.argsort(lengths, kind="stable")]
        parts = [pool[begin : begin + size] for begin in range(0, len(pool), size)]
        for part in order.permutation(len(parts)):
            yield parts[part]


def padded(rows: Sequence[Sequence[int]]) -> np.ndarray:
    """int32 [rows, longest], `PADDING` after the last word."""
    ids = np.full([len(rows), max(map(len, rows))], PADDING, np.int32)
    for number, row in enumerate(rows):
        ids[number, : len(row)] = row
    return ids


def predict(scorer: tf_keras.Model, data: Data) -> np.ndarray:
    """Scores of all pairs: float32 [n], in [0, 5], or not finite if the model has diverged.

    Args:
      scorer: from `regressor.scorer`.
      data: the pairs.
    """
    lengths = [max(len(a), len(b)) for a, b in zip(data.first, data.second, strict=True)]
    order = np.argsort(lengths, kind="stable")

    def inputs() -> Iterator[tuple]:
        for start in range(0, len(order), _PREDICTION_BATCH):
            batch = data.take(order[start : start + _PREDICTION_BATCH])
            yield ((padded(batch.first), padded(batch.second)),)

    batches_of_ids = tf.data.Dataset.from_generator(inputs, output_signature=((_IDS, _IDS),))
    found = np.empty(len(order), np.float32)
    found[order] = scorer.predict(batches_of_ids, verbose=0)
    return found

"""Figure 1 of Prijatelj et al. 2017: a regressor, trained and applied."""

from collections.abc import Callable, Iterable, Iterator

import numpy as np
import tensorflow as tf
import tf_keras

from common.errors import InputError
from model.sts_regression.data import HIGHEST, Pairs
from model.sts_regression.options import Settings

BATCH = 32
"""Not in the paper; Keras's default."""
_POOL = 16
"""Batches whose pairs are sorted by length together: little padding, but mixed batches."""
_PREDICTION_BATCH = 256


class DivergedError(InputError):
    """A loss, a weight or a score is no longer finite in an epoch, counted from 1."""

    def __init__(self, epoch: int):
        super().__init__(f"training diverged in epoch {epoch}; --preset quick has bounded gates")
        self.epoch = epoch


def train(
    regressor: tf_keras.Model, pairs: Pairs, settings: Settings, *, epochs: int, seed: int
) -> list[float]:
    """Trains with RMSprop on the mean squared error; all pairs are shuffled every epoch.

    Returns the mean loss of each epoch.

    Raises:
      DivergedError: if a loss or a weight is not finite.
    """
    clip_norm = settings.clip_norm or None
    optimizer = tf_keras.optimizers.RMSprop(settings.learning_rate, global_clipnorm=clip_norm)
    regressor.compile(optimizer, loss="mse")
    order = np.random.default_rng([seed, 1])
    losses = regressor.fit(
        _dataset(pairs, lambda: batches(pairs, size=BATCH, order=order)),
        epochs=epochs,
        verbose=0,
        callbacks=[tf_keras.callbacks.TerminateOnNaN()],
    ).history["loss"]
    if not all(np.isfinite(each).all() for each in (losses[-1], *regressor.get_weights())):
        raise DivergedError(len(losses))
    return losses


def batches(pairs: Pairs, *, size: int, order: np.random.Generator) -> Iterator[np.ndarray]:
    """Indices for an epoch: each pair once, in random order, pairs of like length together."""
    shuffled = order.permutation(len(pairs.scores))
    lengths = np.array([len(a) + len(b) for a, b in zip(pairs.first, pairs.second, strict=True)])
    for start in range(0, len(shuffled), _POOL * size):
        pool = shuffled[start : start + _POOL * size]
        pool = pool[np.argsort(lengths[pool], kind="stable")]
        parts = [pool[begin : begin + size] for begin in range(0, len(pool), size)]
        for part in order.permutation(len(parts)):
            yield parts[part]


def predict(regressor: tf_keras.Model, pairs: Pairs, *, epochs: int) -> np.ndarray:
    """Scores of all pairs, after so many epochs, clipped to [0, 5]: float32 [n].

    Raises:
      DivergedError: if a score is not finite; it may diverge on pairs held out alone.
    """
    lengths = [max(len(a), len(b)) for a, b in zip(pairs.first, pairs.second, strict=True)]
    order = np.argsort(lengths, kind="stable")
    parts = np.split(order, range(_PREDICTION_BATCH, len(order), _PREDICTION_BATCH))
    found = np.empty(len(order), np.float32)
    found[order] = regressor.predict(_dataset(pairs, lambda: parts), verbose=0)[:, 0]
    if not np.isfinite(found).all():
        raise DivergedError(epochs)
    return np.clip(found, 0, HIGHEST)


def _dataset(pairs: Pairs, parts: Callable[[], Iterable[np.ndarray]]) -> tf.data.Dataset:
    """Batches of pairs at these indices, `PADDING` after the last word, and their scores."""

    def examples() -> Iterator[tuple]:
        for indices in parts():
            batch = pairs.take(indices)
            sides = (batch.first, batch.second)
            ids = (tf_keras.utils.pad_sequences(side, padding="post") for side in sides)
            yield tuple(ids), batch.scores

    ids, scores = tf.TensorSpec([None, None], tf.int32), tf.TensorSpec([None], tf.float32)
    return tf.data.Dataset.from_generator(examples, output_signature=((ids, ids), scores))

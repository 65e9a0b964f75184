"""A moving average of the weights, which often scores better than the weights themselves.

The Model Garden's `ExponentialMovingAverage` updates at every step, which takes longer than a step
if embedding tables are large, and swaps weights by additions, which round. Here the average is
updated every few steps and the weights are restored bit for bit.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import tensorflow as tf
import tf_keras

from model.configs import schema
from model.layers import embedding

_ROWS_AT_ONCE = 2048
"""Rows of a table that are averaged together."""


class WeightAverage(tf.Module):
    """average = decay * average + (1 - decay) * weights.

    At the n-th update the decay is at most (1 + n) / (10 + n), so that the initial weights are
    soon forgotten (as in tf.train.ExponentialMovingAverage).
    """

    def __init__(self, model: tf_keras.Model, config: schema.Trainer):
        super().__init__(name="weight_average")
        self._strategy = tf.distribute.get_strategy()
        self._decay = config.average_decay
        self._every = config.average_every
        # The model and not its variables, which keep their names in a checkpoint.
        self._model = model if self._decay else None
        self.values = [
            tf.Variable(weight, trainable=False, name=f"average/{weight.name.split(':')[0]}")
            for weight in self._weights
        ]

    @property
    def _weights(self) -> list[tf.Variable]:
        return [] if self._model is None else self._model.trainable_variables

    def of(self, weights: Sequence[tf.Variable]) -> list[tf.Variable]:
        """The averages of some weights, if there are any."""
        wanted = {id(weight) for weight in weights}
        both = zip(self.values, self._weights, strict=True)
        return [value for value, weight in both if id(weight) in wanted]

    def step(self, number: int) -> None:
        """Updates the average after a step, once in `average_every` steps."""
        if self.values and number % self._every == 0:
            updates = number / self._every
            self._update(tf.constant(min(self._decay, (1 + updates) / (10 + updates))))

    @tf.function
    def _update(self, decay: tf.Tensor) -> None:
        for value, weight in zip(self.values, self._weights, strict=True):
            self._strategy.extended.update(value, _move, args=(weight, decay))

    def use(self) -> None:
        """Replaces the weights by their average."""
        for value, weight in zip(self.values, self._weights, strict=True):
            weight.assign(value)

    @contextmanager
    def in_place(self) -> Iterator[None]:
        """Replaces the weights by their average inside the context."""
        own = [tf.identity(weight) for weight in self._weights]
        self.use()
        try:
            yield
        finally:
            for weight, value in zip(self._weights, own, strict=True):
                weight.assign(value)


def _move(value: tf.Variable, weight: tf.Variable, decay: tf.Tensor) -> None:
    """Moves an average, or a replica's copy of it, towards the weights.

    A table is moved a few rows at a time, which stay in the cache: five times as fast.
    """
    count = value.shape[0] if value.shape.rank else 0
    if count <= _ROWS_AT_ONCE:
        value.assign(decay * value + (1 - decay) * weight)
        return
    for start in tf.range(0, count, _ROWS_AT_ONCE):
        rows = tf.range(start, tf.minimum(start + _ROWS_AT_ONCE, count))
        of_value, of_weight = (embedding.rows(each, rows) for each in (value, weight))
        moved = decay * of_value + (1 - decay) * of_weight
        value.scatter_update(tf.IndexedSlices(moved, rows))

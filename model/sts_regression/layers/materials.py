"""What an embedding and a comparator take and give, and what both are made from."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf
import tf_keras

from model.sts_regression.choices import Choices
from model.sts_regression.layers.lstm import lstm


class Words(NamedTuple):
    """A batch of sentences."""

    ids: tf.Tensor
    """int32 [batch, time], `PADDING` after the last word."""
    vectors: tf.Tensor
    """float32 [batch, time, dim]."""
    mask: tf.Tensor
    """bool [batch, time]: false at padding, unless the LSTMs read it (`Choices.padding`)."""


class Embedded(NamedTuple):
    """A batch of sentence embeddings."""

    last: tf.Tensor
    """float32 [batch, width]."""
    sequence: tf.Tensor
    """float32 [batch, time, width]; after the last word the output is repeated."""
    mask: tf.Tensor
    """bool [batch, time]."""


class Materials(NamedTuple):
    """What embeddings and comparators are made from."""

    choices: Choices
    units: int
    table: np.ndarray
    """float32 [words, dim]: the word vectors."""
    training: Sequence[Sequence[int]]
    """Rows of the table for each training sentence, of both sides. Fit to nothing else."""
    seeds: Iterator[int]

    def lstm(self, **options: Any) -> tf_keras.layers.RNN:
        """An LSTM with the gates and initializers of the choices."""
        return lstm(
            self.units,
            gates=self.choices.gates,
            recurrent_initializer=self.choices.recurrent_initializer,
            seeds=self.seeds,
            **options,
        )

    def dense(self, units: int) -> tf_keras.layers.Dense:
        """A fully connected layer with ELU, He-normal."""
        start = tf_keras.initializers.HeNormal(next(self.seeds))
        return tf_keras.layers.Dense(units, "elu", kernel_initializer=start)


@dataclass(frozen=True)
class Experiment:
    """A row of table 2."""

    label: str
    embedding: Callable[..., Embedded]
    """`embedding(words, materials)`."""
    comparator: Callable[..., tf.Tensor]
    """`comparator(first, second, materials)` -> float32 [batch, 1]."""
    epochs: int = 50
    paper: tuple[float, float] | None = None
    """Pearson's r out of sample and in sample, as printed there."""
    cost: int = 1
    """About how many LSTMs it runs for 50 epochs: the most expensive row starts first."""

"""What an embedding and a comparator take and give, and what both are made from."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import tensorflow as tf
import tf_keras

from model.sts_regression.layers.lstm import lstm
from model.sts_regression.settings import Settings


class Words(NamedTuple):
    """A batch of sentences."""

    ids: tf.Tensor
    """int32 [batch, time]; `PADDING` after the last word, or before the first."""
    vectors: tf.Tensor
    """float32 [batch, time, dim]."""
    mask: tf.Tensor
    """bool [batch, time]: false at padding, unless LSTMs read it (`Settings.padding`)."""


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

    settings: Settings
    units: int
    table: np.ndarray
    """float32 [words, dim]: the word vectors."""
    training: Sequence[Sequence[int]]
    """Rows of the table for each training sentence, of both sides. Fit to nothing else."""
    seeds: Iterator[int]

    def lstm(self, *, go_backwards: bool = False) -> tf_keras.layers.RNN:
        """An LSTM with the gates of the settings."""
        gates = self.settings.gates
        return lstm(self.units, gates=gates, seeds=self.seeds, go_backwards=go_backwards)

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
    paper: tuple[float, float] = (0.0, 0.0)
    """Pearson's r out of sample and in sample, as printed there."""

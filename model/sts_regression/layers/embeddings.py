"""Word vectors -> sentence embedding (Prijatelj et al. 2017, section 3.2)."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from model.sts_regression.choices import Choices
from model.sts_regression.data.vectors import PADDING
from model.sts_regression.layers.lstm import Lstm


class Words(NamedTuple):
    """A batch of sentences, by time."""

    ids: tf.Tensor
    """int32 [time, batch], `PADDING` behind the last word."""
    vectors: tf.Tensor
    """float32 [time, batch, dim]."""
    real: tf.Tensor
    """float32 [time, batch, 1]: 1 at words, 0 at padding."""


class Embedded(NamedTuple):
    """A batch of sentence embeddings."""

    last: tf.Tensor
    """float32 [batch, width]."""
    sequence: tf.Tensor
    """float32 [time, batch, width]; behind the last word it stays as it is."""
    real: tf.Tensor
    """float32 [time, batch, 1]."""


class Materials(NamedTuple):
    """What an embedding or a comparator is made of."""

    choices: Choices
    units: int
    table: np.ndarray
    """float32 [words, dim]: the word vectors."""
    training: Sequence[Sequence[int]]
    """Rows of the table of the words of each training sentence, both sides; nothing else may be
    fitted to."""
    seeds: Iterator[int]

    def lstm(self, input_dim: int) -> Lstm:
        """An LSTM as the choices have it."""
        return Lstm(
            input_dim,
            self.units,
            gates=self.choices.gates,
            recurrent_initializer=self.choices.recurrent_initializer,
            seeds=self.seeds,
        )


class Sif(tf.Module):
    """Smooth inverse frequency (section 3.2.1): nothing in it is trained.

    v_s = 1/|s| Σ_w a / (a + p(w)) v_w, less its part along the first principal component of the
    training sentences' v_s (which are not centred for it, as in Arora et al.).
    """

    def __init__(self, materials: Materials):
        super().__init__(name="sif")
        table = materials.table
        weights = sif_weights(materials.training, rows=len(table), a=materials.choices.sif_a)
        means = np.stack([weights[row] @ table[row] / len(row) for row in materials.training])
        component = np.linalg.svd(means, full_matrices=False)[2][0]
        self._weights = tf.Variable(weights[:, np.newaxis], trainable=False, name="weights")
        self._component = tf.Variable(component, trainable=False, name="component")
        self.width = table.shape[1]

    def __call__(self, words: Words) -> Embedded:
        """float32 [batch, dim]; the sequence has that one step."""
        weighted = tf.gather(self._weights, words.ids) * words.vectors * words.real
        means = tf.math.divide_no_nan(
            tf.reduce_sum(weighted, axis=0), tf.reduce_sum(words.real, axis=0)
        )
        along = tf.linalg.matvec(means, self._component)
        embedded = means - along[:, tf.newaxis] * self._component
        return Embedded(embedded, embedded[tf.newaxis], words.real[:1])


def sif_weights(training: Sequence[Sequence[int]], *, rows: int, a: float) -> np.ndarray:
    """Return a / (a + p(w)) of each row of the table, p(w) its share of all words: float32 [rows].

    A word that does not train has p = 0 and weighs 1.
    """
    counts = np.bincount(np.concatenate([np.asarray(row) for row in training]), minlength=rows)
    weights = a / (a + counts / counts.sum())
    weights[PADDING] = 0
    return weights.astype(np.float32)


class LstmStack(tf.Module):
    """One LSTM or several, each fed with the sequence of the one before (section 3.2.3)."""

    def __init__(self, materials: Materials, *, layers: int):
        super().__init__(name="lstm_stack")
        self.width = materials.units
        inputs = [materials.table.shape[1]] + [self.width] * (layers - 1)
        self._layers = [materials.lstm(width) for width in inputs]

    def __call__(self, words: Words) -> Embedded:
        """float32 [batch, units]: the last output of the last LSTM."""
        sequence = words.vectors
        for layer in self._layers:
            sequence = layer(sequence, words.real)
        return Embedded(sequence[-1], sequence, words.real)


class BidirectionalLstm(tf.Module):
    """An LSTM from each end (section 3.4)."""

    def __init__(self, materials: Materials):
        super().__init__(name="bidirectional_lstm")
        self.width = 2 * materials.units
        self._forward, self._backward = (materials.lstm(materials.table.shape[1]) for _ in range(2))

    def __call__(self, words: Words) -> Embedded:
        """float32 [batch, 2 units]: the last outputs of both."""
        onward = self._forward(words.vectors, words.real)
        # Padding comes first here, and leaves the state at zero.
        back = self._backward(tf.reverse(words.vectors, [0]), tf.reverse(words.real, [0]))
        return Embedded(
            tf.concat([onward[-1], back[-1]], axis=1),
            tf.concat([onward, tf.reverse(back, [0])], axis=2),
            words.real,
        )

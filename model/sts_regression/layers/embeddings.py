"""Word vectors -> sentence embedding (Prijatelj et al. 2017, section 3.2).

Each embedding is a function of Keras tensors, `embedding(words, materials) -> Embedded`.
"""

from collections.abc import Sequence

import numpy as np
import tensorflow as tf
import tf_keras

from model.sts_regression.data.vectors import PADDING
from model.sts_regression.layers.materials import Embedded, Materials, Words

SIF_A = 1e-3
"""a of SIF; the paper gives no number, this one is from Arora et al."""


class Sif(tf_keras.layers.Layer):
    """Smooth inverse frequency (section 3.2.1; Arora et al. 2017): no weight is trained.

    v_s = 1/|s| Σ_w a / (a + p(w)) v_w, without its projection on the first principal component of
    the training sentences' v_s (not centred, as in Arora et al.).

    Args:
      training: rows of the table for each training sentence; weights and component are fit to them.
      table: float32 [rows, dim], the word vectors.
      a: the constant of a / (a + p).
    """

    def __init__(self, training: Sequence[Sequence[int]], table: np.ndarray, *, a: float = SIF_A):
        super().__init__()
        weights = sif_weights(training, rows=len(table), a=a)
        means = np.stack([weights[row] @ table[row] / len(row) for row in training])
        component = np.linalg.svd(means, full_matrices=False)[2][0]
        self.word_weights = tf.Variable(weights, trainable=False, name="word_weights")
        self.component = tf.Variable(component, trainable=False, name="component")

    def call(self, ids: tf.Tensor, vectors: tf.Tensor) -> tf.Tensor:
        """int32 [batch, time], float32 [batch, time, dim] -> float32 [batch, dim]."""
        weighted = tf.gather(self.word_weights, ids)[:, :, tf.newaxis] * vectors
        lengths = tf.math.count_nonzero(ids != PADDING, axis=1, keepdims=True, dtype=tf.float32)
        means = tf.math.divide_no_nan(tf.reduce_sum(weighted, axis=1), lengths)
        along = tf.linalg.matvec(means, self.component)
        return means - along[:, tf.newaxis] * self.component


def sif_weights(training: Sequence[Sequence[int]], *, rows: int, a: float) -> np.ndarray:
    """The weight a / (a + p(w)) of each row of the table, p(w) its share of all words.

    A word that is not in the training sentences has p = 0 and weight 1; padding has weight 0.

    Returns:
      float32 [rows].
    """
    counts = np.bincount(np.concatenate([np.asarray(row) for row in training]), minlength=rows)
    weights = a / (a + counts / counts.sum())
    weights[PADDING] = 0
    return weights.astype(np.float32)


def sif(words: Words, materials: Materials) -> Embedded:
    """SIF, a sequence of one step: `last` is float32 [batch, dim]."""
    embedded = Sif(materials.training, materials.table)(words.ids, words.vectors)
    return Embedded(embedded, embedded[:, tf.newaxis], words.mask[:, :1])


def lstm_stack(words: Words, materials: Materials, *, layers: int) -> Embedded:
    """`layers` LSTMs, each reading the outputs of the one before (section 3.2.3)."""
    sequence = words.vectors
    for _ in range(layers):
        sequence = materials.lstm()(sequence, mask=words.mask)
    return Embedded(sequence[:, -1], sequence, words.mask)


def bidirectional_lstm(words: Words, materials: Materials) -> Embedded:
    """An LSTM from each end (section 3.4): `last` is float32 [batch, 2 units]."""
    forward = materials.lstm()(words.vectors, mask=words.mask)
    # Padding comes first here, and leaves the state at 0.
    backward = materials.lstm(go_backwards=True)(words.vectors, mask=words.mask)
    last = tf.concat([forward[:, -1], backward[:, -1]], axis=1)
    sequence = tf.concat([forward, tf.reverse(backward, [1])], axis=2)
    return Embedded(last, sequence, words.mask)

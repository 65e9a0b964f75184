"""Word vectors -> sentence embedding -> score (Prijatelj et al. 2017, section 3)."""

import itertools
from collections.abc import Sequence

import numpy as np
import tensorflow as tf
import tf_keras

from model.sts_regression.options import Experiment, Settings
from model.sts_regression.words import PADDING

SIF_A = 1e-3
"""a of SIF; the paper gives no number, this one is from Arora et al."""
DISTANCE_MLP = (5, 2, 1)
"""Units: 5, then half of the layer before, rounded down; the last is the score (section 3.4)."""
_SMALLEST = 1e-12
"""Smaller squared distances count as this: the square root has no gradient at 0."""


@tf_keras.saving.register_keras_serializable(package="sts_regression")
def elu_to_1(values: tf.Tensor) -> tf.Tensor:
    """An ELU that never exceeds 1."""
    return tf.minimum(tf.nn.elu(values), 1.0)


GATES = {"printed": "elu", "bounded": elu_to_1}
"""s_g, the activation of an LSTM's gates.

`printed`: "s_g is an ELU function and s_c is the hard sigmoid" (section 3.2.2). `bounded`: gates
never exceed 1, so that outputs stay in [-1, 1] for any number of words and layers.
"""


class Sif(tf_keras.layers.Layer):
    """Smooth inverse frequency (section 3.2.1; Arora et al. 2017): no weight is trained.

    v_s = 1/|s| Σ_w a / (a + p(w)) v_w, without its projection on the first principal component of
    the training sentences' v_s (not centred, as in Arora et al.). p(w) is a word's share of their
    words; 0 for others. `training` are rows of the table, float32 [rows, dim], for each training
    sentence.
    """

    def __init__(self, training: Sequence[Sequence[int]], table: np.ndarray, *, a: float = SIF_A):
        super().__init__()
        counts = np.bincount(np.concatenate(training), minlength=len(table))
        weights = (a / (a + counts / counts.sum())).astype(np.float32)
        weights[PADDING] = 0
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


class Network:
    """A regressor: word vectors, an embedding of each sentence, a comparator.

    Embeddings map words, int32 [batch, time], and their vectors, float32 [batch, time, dim], to
    float32 [batch, steps, width], of which the last step is the sentence embedding. Comparators map
    two of these and a mask, bool [batch, time], false where both sentences have ended, to scores,
    float32 [batch, 1].

    Args:
      experiment, settings: the row of table 2, and how it is trained.
      table: the word vectors, float32 [words, dim], which are not trained.
      training: rows of the table for each training sentence, of both sides. SIF is fitted to them.
      seed: one number is drawn from it for each matrix of weights.
    """

    def __init__(
        self,
        experiment: Experiment,
        settings: Settings,
        *,
        table: np.ndarray,
        training: Sequence[Sequence[int]],
        seed: int,
    ):
        self.experiment, self.table, self.training = experiment, table, training
        self.units, self.gates = settings.units or table.shape[1], settings.gates
        numbers = np.random.default_rng(seed)
        self.seeds = (int(numbers.integers(2**31)) for _ in itertools.count())

    def model(self) -> tf_keras.Model:
        """With initial weights: two inputs, int32 [batch, time], `PADDING` after the last word.

        Returns float32 [batch, 1], any number. Each sentence has an encoder of its own ("A single
        LSTM per sentence", "two stacks of LSTMs").
        """
        sides = [tf_keras.Input([None], dtype=tf.int32, name=name) for name in ("first", "second")]
        time = tf.maximum(*(tf.shape(side)[1] for side in sides))
        ids = [tf.pad(side, [[0, 0], [0, time - tf.shape(side)[1]]]) for side in sides]
        vectors = tf_keras.layers.Embedding(
            *self.table.shape, weights=[self.table], trainable=False
        )
        embed = getattr(self, self.experiment.embedding)
        embedded = [embed(side, vectors(side)) for side in ids]
        compare = getattr(self, self.experiment.comparator)
        has_word = tf.logical_or(*(side != PADDING for side in ids))
        return tf_keras.Model(sides, compare(*embedded, has_word))

    def lstm(self, *, go_backwards: bool = False) -> tf_keras.layers.RNN:
        """An LSTM layer: float32 [batch, time, dim] -> float32 [batch, time, units].

            f, i, o = s_g(W x_t + U h_{t-1} + b)      each with its own weights
            c_t = f ∘ c_{t-1} + i ∘ s_c(W_c x_t + U_c h_{t-1} + b_c)
            h_t = o ∘ s_c(c_t)

        (section 3.2.2.) Keras's LSTM computes this: `recurrent_activation` is s_g, `activation` is
        s_c, and b_f starts at 1. At a step that `mask` excludes, state and output stay as they are,
        so that the last output is that of the last word. With `go_backwards` outputs are in the
        order of reading.
        """
        cell = tf_keras.layers.LSTMCell(
            self.units,
            activation="hard_sigmoid",
            recurrent_activation=GATES[self.gates],
            # The variance is that of the inputs of one unit: the same for each of the four parts.
            kernel_initializer=tf_keras.initializers.HeNormal(next(self.seeds)),
            recurrent_initializer=tf_keras.initializers.HeNormal(next(self.seeds)),
        )
        return tf_keras.layers.RNN(cell, return_sequences=True, go_backwards=go_backwards)

    def dense(self, values: tf.Tensor, *sizes: int) -> tf.Tensor:
        """[batch, width] through fully connected layers with ELU, He-normal, of these sizes."""
        for size in sizes:
            start = tf_keras.initializers.HeNormal(next(self.seeds))
            values = tf_keras.layers.Dense(size, "elu", kernel_initializer=start)(values)
        return values

    def sif(self, ids: tf.Tensor, vectors: tf.Tensor) -> tf.Tensor:
        """Embedding: SIF, one step (section 3.2.1)."""
        return Sif(self.training, self.table)(ids, vectors)[:, tf.newaxis]

    def lstm_stack(self, ids: tf.Tensor, vectors: tf.Tensor) -> tf.Tensor:
        """Embedding: LSTMs, each reading the outputs of the one before (section 3.2.3)."""
        for _ in range(self.experiment.layers):
            vectors = self.lstm()(vectors, mask=ids != PADDING)
        return vectors

    def bidirectional_lstm(self, ids: tf.Tensor, vectors: tf.Tensor) -> tf.Tensor:
        """Embedding: an LSTM from each end, one step of width 2 units (section 3.4)."""
        forward = self.lstm()(vectors, mask=ids != PADDING)
        # Padding comes first here, and leaves the state at 0.
        backward = self.lstm(go_backwards=True)(vectors, mask=ids != PADDING)
        return tf.concat([forward[:, -1:], backward[:, -1:]], axis=2)

    def perceptron(self, first: tf.Tensor, second: tf.Tensor, mask: tf.Tensor) -> tf.Tensor:
        """Comparator: both embeddings, a fully connected layer, one unit (section 3.3.1)."""
        return self.dense(tf.concat([first[:, -1], second[:, -1]], axis=1), self.units, 1)

    def lstm_comparator(self, first: tf.Tensor, second: tf.Tensor, mask: tf.Tensor) -> tf.Tensor:
        """Comparator: LSTMs over both sequences side by side, then a perceptron (section 3.3).

        The shorter sentence repeats its last output until the longer one ends.
        """
        sequence = tf.concat([first, second], axis=2)
        for _ in range(self.experiment.layers):
            sequence = self.lstm()(sequence, mask=mask)
        return self.dense(sequence[:, -1], self.units, 1)

    def distance(self, first: tf.Tensor, second: tf.Tensor, mask: tf.Tensor) -> tf.Tensor:
        """Comparator: Euclidean distance and a multi-layer perceptron (section 3.4)."""
        apart = tf.math.squared_difference(first[:, -1], second[:, -1])
        squared = tf.maximum(tf.reduce_sum(apart, axis=1, keepdims=True), _SMALLEST)
        return self.dense(tf.sqrt(squared), *DISTANCE_MLP)

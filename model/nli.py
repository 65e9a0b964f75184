"""The classifier of sentence pairs beside the dual encoder (Yang et al. 2018, section 2.4)."""

from typing import NamedTuple

import tensorflow as tf
import tf_keras

from data_pipeline import records
from model import configs


class Classified(NamedTuple):
    """How well the replica's pairs were classified; means, float32 scalars."""

    loss: tf.Tensor
    accuracy: tf.Tensor


class NliHead(tf_keras.layers.Layer):
    """Two encoded sentences -> a score for each of `records.LABELS`, in their order."""

    def __init__(self, config: configs.Nli):
        # The features are differences of close numbers: bfloat16 would lose them.
        super().__init__(name="nli_head", autocast=False)
        self._hidden = [
            tf_keras.layers.Dense(units, activation=config.activation, name=f"hidden_{index}")
            for index, units in enumerate(config.hidden)
        ]
        self._pooled = (
            tf_keras.layers.Dense(config.max_units, activation="relu", name="pooled")
            if config.max_units
            else None
        )
        self._dropout = tf_keras.layers.Dropout(config.dropout)
        self._logits = tf_keras.layers.Dense(len(records.LABELS), dtype=tf.float32, name="logits")

    def call(
        self,
        premises: dict[str, tf.Tensor],
        hypotheses: dict[str, tf.Tensor],
        training: bool = False,
    ) -> tf.Tensor:
        """Two results of an encoder -> logits, float32 [batch, 3].

        Of each it takes `default` and, where it pools, `sequence_output` and `mask`.
        """
        hidden = pair_features(self._side(premises), self._side(hypotheses))
        for layer in self._hidden:
            hidden = self._dropout(layer(hidden), training=training)
        return self._logits(hidden)

    def _side(self, encoded: dict[str, tf.Tensor]) -> tf.Tensor:
        """What is compared of a sentence: float32 [batch, embedding_dim + max_units]."""
        embedding = _of_size_one(encoded["default"])
        if self._pooled is None:
            return embedding
        units = tf.cast(self._pooled(encoded["sequence_output"]), tf.float32)
        # None of them is below 0, where padding is then.
        real = tf.cast(encoded["mask"], tf.float32)[:, :, tf.newaxis]
        largest = tf.math.l2_normalize(tf.reduce_max(units * real, axis=1), axis=-1)
        return tf.concat([embedding, _of_size_one(largest)], axis=-1)


def _of_size_one(rows: tf.Tensor) -> tf.Tensor:
    """Rows of unit length, [batch, dim], times sqrt(dim).

    Their numbers are as small as 1 / sqrt(dim) and products of them as 1 / dim: as they are, a
    classifier's first layer would have to grow for long before it saw them.
    """
    return tf.cast(rows, tf.float32) * rows.shape[-1] ** 0.5


def pair_features(u1: tf.Tensor, u2: tf.Tensor) -> tf.Tensor:
    """(u1, u2, |u1 - u2|, u1 * u2) of section 2.4: [batch, dim] twice -> [batch, 4 * dim]."""
    return tf.concat([u1, u2, tf.abs(u1 - u2), u1 * u2], axis=-1)


def nli_softmax(logits: tf.Tensor, labels: tf.Tensor) -> Classified:
    """Mean cross-entropy and accuracy.

    Args:
      logits: float32 [batch, 3].
      labels: indices in `records.LABELS`, any integer type, [batch].
    """
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    right = tf.equal(tf.argmax(logits, axis=-1), tf.cast(labels, tf.int64))
    return Classified(
        loss=tf.reduce_mean(losses), accuracy=tf.reduce_mean(tf.cast(right, tf.float32))
    )

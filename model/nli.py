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
    """Two sentence embeddings -> a score for each of `records.LABELS`, in their order."""

    def __init__(self, config: configs.Nli):
        # The features are differences of close numbers: bfloat16 would lose them.
        super().__init__(name="nli_head", autocast=False)
        self._hidden = [
            tf_keras.layers.Dense(units, activation=config.activation, name=f"hidden_{index}")
            for index, units in enumerate(config.hidden)
        ]
        self._dropout = tf_keras.layers.Dropout(config.dropout)
        self._logits = tf_keras.layers.Dense(len(records.LABELS), dtype=tf.float32, name="logits")

    def call(self, premises: tf.Tensor, hypotheses: tf.Tensor, training: bool = False) -> tf.Tensor:
        """u1 and u2, float [batch, embedding_dim] -> logits, float32 [batch, 3]."""
        hidden = pair_features(premises, hypotheses)
        for layer in self._hidden:
            hidden = self._dropout(layer(hidden), training=training)
        return self._logits(hidden)


def pair_features(premises: tf.Tensor, hypotheses: tf.Tensor) -> tf.Tensor:
    """(u1, u2, |u1 - u2|, u1 * u2), both times sqrt(dim): [batch, dim] twice -> [batch, 4 * dim].

    Numbers of a vector of unit length are as small as 1 / sqrt(dim) and their products as 1 / dim:
    as they are, a classifier's first layer would have to grow for long before it saw them.
    """
    root = premises.shape[-1] ** 0.5
    u1, u2 = (tf.cast(u, tf.float32) * root for u in (premises, hypotheses))
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

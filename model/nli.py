"""The classifier of sentence pairs beside the dual encoder (Yang et al. 2018, section 2.4)."""

from collections.abc import Callable
from typing import NamedTuple

import tensorflow as tf
import tf_keras

from data_pipeline import records
from model import configs
from model.text import PADDING


class Classified(NamedTuple):
    """How well the replica's pairs were classified; means, float32 scalars."""

    loss: tf.Tensor
    accuracy: tf.Tensor


class Side(NamedTuple):
    """A batch of sentences as the classifier takes them."""

    embeddings: tf.Tensor
    """Of unit length, float [batch, embedding_dim]."""
    words: tf.Tensor
    """Vectors of all their words, float [words, word_dim], ..."""
    of_row: tf.Tensor
    """... and the sentence that each stands in, integers [words], not falling."""


def side(
    embeddings: tf.Tensor, word_ids: tf.Tensor, vectors: Callable[[tf.Tensor], tf.Tensor]
) -> Side:
    """Brings together what is known of a batch.

    Args:
      embeddings: float [batch, embedding_dim].
      word_ids: int32 [batch, tokens], at least one of each row a word's.
      vectors: ids [n] -> their vectors, float [n, word_dim].
    """
    places = tf.where(word_ids != PADDING)
    return Side(embeddings, vectors(tf.gather_nd(word_ids, places)), places[:, 0])


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

    def call(self, premises: Side, hypotheses: Side, training: bool = False) -> tf.Tensor:
        """Two batches of sentences -> logits, float32 [batch, 3]."""
        hidden = pair_features(self._compared(premises), self._compared(hypotheses))
        for layer in self._hidden:
            hidden = self._dropout(layer(hidden), training=training)
        return self._logits(hidden)

    def _compared(self, sentences: Side) -> tf.Tensor:
        """What is compared of each sentence: float32 [batch, embedding_dim + max_units]."""
        embeddings = _of_size_one(sentences.embeddings)
        if self._pooled is None:
            return embeddings
        units = tf.cast(self._pooled(sentences.words), tf.float32)
        largest = tf.math.l2_normalize(tf.math.segment_max(units, sentences.of_row), axis=-1)
        return tf.concat([embeddings, _of_size_one(largest)], axis=-1)


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

"""The classifier of sentence pairs beside the dual encoder (Yang et al. 2018, section 2.4)."""

from collections.abc import Callable
from typing import Any, NamedTuple

import tensorflow as tf
import tf_keras

from common import tfrecord
from model.configs import schema
from model.layers.embedding import bags


class Side(NamedTuple):
    """A batch of sentences as the classifier takes them."""

    embeddings: tf.Tensor
    """Of unit length, float [batch, embedding_dim]."""
    words: tf.Tensor | None
    """Vectors of all their words, float [words, word_dim], ..."""
    of_row: tf.Tensor
    """... and the sentence that each stands in, integers [words], not falling."""


def side(
    embeddings: tf.Tensor, word_ids: tf.Tensor, vectors: Callable[[tf.Tensor], tf.Tensor] | None
) -> Side:
    """Looks up the words' vectors, ids [n] -> float [n, word_dim], of a batch.

    Without `vectors` there are none, for a classifier that does not read them. `word_ids`, int32
    [batch, tokens], are at least one of each row a word's.
    """
    words = bags(word_ids)
    return Side(embeddings, vectors and vectors(words.ids), words.texts)


class NliHead(tf_keras.layers.Layer):
    """Two encoded sentences -> scores of `tfrecord.LABELS`, in their order, by each member.

    `config` are the parameters of `schema.Nli`.
    """

    def __init__(self, *, name: str = "nli_head", **config: Any):
        # The features are differences of close numbers: bfloat16 would lose them.
        super().__init__(name=name, autocast=False)
        given = schema.Nli(**config)
        self._scaled = given.scale_by_root_of_dim
        self._pooled: tf_keras.layers.Layer | None = None
        if given.max_units:
            self._pooled = tf_keras.layers.Dense(given.max_units, activation="relu", name="pooled")
        self._members = [Member(given, name=f"member_{index}") for index in range(given.members)]

    @property
    def reads_words(self) -> bool:
        """Whether the words' vectors matter, and not only the embeddings."""
        return self._pooled is not None

    def call(self, premises: Side, hypotheses: Side, training: bool = False) -> tf.Tensor:
        """Two batches of sentences -> logits, float32 [batch, members, 3]."""
        features = pair_features(self._compared(premises), self._compared(hypotheses))
        return tf.stack([member(features, training=training) for member in self._members], axis=1)

    def _compared(self, sentences: Side) -> tf.Tensor:
        """What is compared of each sentence: float32 [batch, embedding_dim + max_units]."""
        embeddings = self._scaled_rows(tf.cast(sentences.embeddings, tf.float32))
        if self._pooled is None:
            return embeddings
        units = tf.cast(self._pooled(sentences.words), tf.float32)
        largest = tf.math.l2_normalize(tf.math.segment_max(units, sentences.of_row), axis=-1)
        return tf.concat([embeddings, self._scaled_rows(largest)], axis=-1)

    def _scaled_rows(self, rows: tf.Tensor) -> tf.Tensor:
        """Rows of unit length, float32 [batch, dim], times sqrt(dim) if the config says so.

        Their numbers are as small as 1 / sqrt(dim) and products of them as 1 / dim: as they are, a
        classifier's first layer would have to grow for long before it saw them.
        """
        return rows * rows.shape[-1] ** 0.5 if self._scaled else rows


class Member(tf_keras.layers.Layer):
    """Features of pairs -> a score for each of `tfrecord.LABELS`, in their order."""

    def __init__(self, config: schema.Nli, *, name: str):
        super().__init__(name=name, autocast=False)
        self._hidden = [
            tf_keras.layers.Dense(units, activation=config.activation, name=f"hidden_{index}")
            for index, units in enumerate(config.hidden)
        ]
        self._feature_dropout = tf_keras.layers.Dropout(config.feature_dropout)
        self._dropout = tf_keras.layers.Dropout(config.dropout)
        self._logits = tf_keras.layers.Dense(len(tfrecord.LABELS), dtype=tf.float32, name="logits")

    def call(self, features: tf.Tensor, training: bool = False) -> tf.Tensor:
        """float32 [batch, features] -> logits, float32 [batch, 3]."""
        hidden = self._feature_dropout(features, training=training)
        for layer in self._hidden:
            hidden = self._dropout(layer(hidden), training=training)
        return self._logits(hidden)


def pair_features(u1: tf.Tensor, u2: tf.Tensor) -> tf.Tensor:
    """(u1, u2, |u1 - u2|, u1 * u2) of section 2.4: [batch, dim] twice -> [batch, 4 * dim]."""
    return tf.concat([u1, u2, tf.abs(u1 - u2), u1 * u2], axis=-1)


def probabilities(logits: tf.Tensor) -> tf.Tensor:
    """The mean over the members: [batch, members, 3] -> float32 [batch, 3]."""
    return tf.reduce_mean(tf.nn.softmax(logits), axis=1)

"""Tables of vectors: of words or bigrams, and of character n-grams."""

from typing import Any

import tensorflow as tf
import tf_keras

from model.layers import embedding
from model.layers.dropout import IdDropout
from model.text.preprocessing import NGRAMS_A_WORD


class Table(tf_keras.layers.Layer):
    """Vectors of ids: `input_dim` ids, `output_dim` numbers each, at first of about length 1."""

    def __init__(self, input_dim: int, output_dim: int, *, name: str, initializer: Any = None):
        super().__init__(name=name)
        self.input_dim, self.output_dim = input_dim, output_dim
        unit = output_dim**-0.5
        self._initializer = initializer or tf_keras.initializers.RandomNormal(stddev=unit)

    def build(self, input_shape: tf.TensorShape | None) -> None:
        """Makes the table, [input_dim, output_dim]."""
        super().build(input_shape)
        shape = (self.input_dim, self.output_dim)
        self.table = self.add_weight("table", shape, initializer=self._initializer)


class CharNgrams(Table):
    """Character n-grams: sums of their vectors, times a weight.

    It knows the n-grams of the first `words` ids of words; `dropout` is the part of a word's that
    is left out at random in training.
    """

    def __init__(
        self, input_dim: int, output_dim: int, *, words: int, dropout: float, weight: float
    ):
        super().__init__(input_dim, output_dim, name="char_ngrams")
        self.words, self.weight = words, weight
        self._drop = IdDropout(dropout)

    def build(self, input_shape: tf.TensorShape | None) -> None:
        """Makes the table, and the n-grams of the words."""
        super().build(input_shape)
        if self.words:
            self.of_word = self.add_weight(
                "of_word",
                (self.words, NGRAMS_A_WORD),
                dtype=tf.int32,
                initializer="zeros",
                trainable=False,
            )

    def bags(self, words: tf.Tensor, training: bool | tf.Tensor = False) -> embedding.Bags:
        """The n-grams of words: ids of words, int32 [n] -> of each, its n-grams."""
        return embedding.bags(self._drop(embedding.rows(self.of_word, words), training=training))

    def sums(self, bags: embedding.Bags, weights: tf.Tensor, *, count: tf.Tensor) -> tf.Tensor:
        """N-grams, and float32 [count] that their sums are multiplied by -> [count, dim]."""
        return embedding.table_sums(self.table, bags, self.weight * weights, count=count)

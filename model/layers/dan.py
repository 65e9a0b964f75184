"""Deep averaging network over words and bigrams (Yang et al. 2018, section 2.3.1)."""

from collections.abc import Sequence
from typing import Any

import tensorflow as tf
import tf_keras

from model.configs import schema
from model.layers import embedding
from model.layers.dropout import IdDropout
from model.layers.encoders import SentenceEncoder, register_encoder
from model.serialization import serializable
from model.text import BIGRAMS, PADDING, WORDS


@register_encoder("averaging", schema.Averaging)
class AveragingEncoder(SentenceEncoder):
    """Word and bigram vectors, each summed and divided by sqrt(n), added; then a DNN.

    The paper leaves open how the two sums meet; they are added here, so that the DNN's input
    keeps the width of a word vector. Words begin as random vectors and bigrams at zero: most
    bigrams of a new sentence were never trained, and must not drown its words in noise.

    Args:
      table_sizes: the number of ids of `words` and of `bigrams`.
      word_dim: numbers of a word's or bigram's vector.
      embedding_dim: numbers of the sentence embedding.
      hidden: units of each hidden layer.
      activation: of the hidden layers.
      word_dropout: the part of the words left out at random in training, from 0 to 1.
      bigram_dropout: the part of the bigrams left out.
    """

    def __init__(
        self,
        *,
        table_sizes: dict[str, int],
        word_dim: int,
        embedding_dim: int,
        hidden: Sequence[int] = (),
        activation: str = "tanh",
        word_dropout: float = 0.0,
        bigram_dropout: float = 0.0,
        name: str = "averaging_encoder",
        **kwargs: Any,
    ):
        super().__init__(name=name, **kwargs)
        self.embedding_dim = embedding_dim
        self._activation = activation
        self._dropout = {WORDS: IdDropout(word_dropout), BIGRAMS: IdDropout(bigram_dropout)}
        random_unit = tf_keras.initializers.RandomNormal(stddev=word_dim**-0.5)
        self._words = SqrtNEmbedding(
            table_sizes[WORDS], word_dim, initializer=random_unit, name="words"
        )
        self._bigrams = SqrtNEmbedding(
            table_sizes[BIGRAMS], word_dim, initializer="zeros", name="bigrams"
        )
        self._layers = [
            tf_keras.layers.Dense(units, activation=activation, name=f"hidden_{index}")
            for index, units in enumerate(hidden)
        ]
        # So that two sentences are at first as alike as their sums, whatever the widths.
        self._layers.append(
            tf_keras.layers.Dense(embedding_dim, kernel_initializer="orthogonal", name="embedding")
        )

    @property
    def tables(self) -> dict[str, tf.Variable]:
        """The vectors of the ids of each kind: [ids, word_dim]."""
        return {WORDS: self._words.table, BIGRAMS: self._bigrams.table}

    def word_vectors(self, ids: tf.Tensor) -> tf.Tensor:
        """Ids of words, int32 [any shape] -> their vectors, [that shape, word_dim]."""
        return embedding.vectors(self._words.table, ids)

    def call(self, ids: dict[str, tf.Tensor], training: bool = False) -> dict[str, tf.Tensor]:
        """int32 [batch, tokens] `words` and `bigrams` -> `default`: [batch, embedding_dim]."""
        ids = {name: drop(ids[name], training=training) for name, drop in self._dropout.items()}
        words_at = tf.where(ids[WORDS] != PADDING)
        # A row has as many bigrams as words where none were dropped.
        bigrams_at = words_at if training is False else tf.where(ids[BIGRAMS] != PADDING)
        hidden = self._words(ids[WORDS], words_at) + self._bigrams(ids[BIGRAMS], bigrams_at)
        for layer in self._layers:
            hidden = layer(hidden)
        return {"default": tf.math.l2_normalize(tf.cast(hidden, tf.float32), axis=-1)}

    def get_config(self) -> dict[str, Any]:
        """The arguments of the constructor."""
        return super().get_config() | {
            "table_sizes": {WORDS: self._words.input_dim, BIGRAMS: self._bigrams.input_dim},
            "word_dim": self._words.output_dim,
            "embedding_dim": self.embedding_dim,
            "hidden": [layer.units for layer in self._layers[:-1]],
            "activation": self._activation,
            "word_dropout": self._dropout[WORDS].rate,
            "bigram_dropout": self._dropout[BIGRAMS].rate,
        }


@serializable
class SqrtNEmbedding(tf_keras.layers.Layer):
    """The sum of the ids' vectors divided by sqrt(n), n the number of ids of the row.

    Args:
      input_dim: the number of ids.
      output_dim: numbers of a vector.
      initializer: of the table.
    """

    def __init__(
        self,
        input_dim: int,
        output_dim: int,
        *,
        initializer: str | tf_keras.initializers.Initializer = "zeros",
        **kwargs: Any,
    ):
        super().__init__(**kwargs)
        self.input_dim, self.output_dim = input_dim, output_dim
        self._initializer = tf_keras.initializers.get(initializer)

    def build(self, input_shape: tf.TensorShape) -> None:
        """Makes the table, [input_dim, output_dim]."""
        super().build(input_shape)
        shape = (self.input_dim, self.output_dim)
        self.table = self.add_weight("table", shape, initializer=self._initializer)

    def call(self, ids: tf.Tensor, places: tf.Tensor) -> tf.Tensor:
        """Looks up the ids at some places, of which every row has one.

        Args:
          ids: int32 [batch, tokens].
          places: int64 [n, 2], row by row.

        Returns:
          [batch, output_dim].
        """
        return tf.cast(embedding.sqrt_n_sums(self.table, ids, places), self.compute_dtype)

    def get_config(self) -> dict[str, Any]:
        """The arguments of the constructor."""
        return super().get_config() | {
            "input_dim": self.input_dim,
            "output_dim": self.output_dim,
            "initializer": tf_keras.initializers.serialize(self._initializer),
        }

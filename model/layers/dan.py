"""Deep averaging network over words and bigrams (Yang et al. 2018, section 2.3.1)."""

import tensorflow as tf
import tf_keras

from model.configs import schema
from model.layers import embedding
from model.layers.dropout import IdDropout
from model.text.preprocessing import (
    BIGRAMS,
    PADDING,
    WORDS,
    table_sizes,
)


class AveragingEncoder(tf_keras.layers.Layer):
    """Word and bigram vectors, each summed and divided by sqrt(n), added; then a DNN.

    The paper leaves open how the two sums meet; they are added here, so that the DNN's input
    keeps the width of a word vector. Words begin as random vectors and bigrams at zero: most
    bigrams of a new sentence were never trained, and must not drown its words in noise.
    """

    def __init__(self, config: schema.Averaging, text: schema.Text):
        super().__init__(name="averaging_encoder")
        self.embedding_dim = config.embedding_dim
        self._dropout = {
            WORDS: IdDropout(config.word_dropout),
            BIGRAMS: IdDropout(config.bigram_dropout),
        }
        sizes = table_sizes(text)
        random_unit = tf_keras.initializers.RandomNormal(stddev=config.word_dim**-0.5)
        self._words = SqrtNEmbedding(
            (sizes[WORDS], config.word_dim), initializer=random_unit, name="words"
        )
        self._bigrams = SqrtNEmbedding(
            (sizes[BIGRAMS], config.word_dim), initializer="zeros", name="bigrams"
        )
        self._layers = [
            tf_keras.layers.Dense(units, activation=config.activation, name=f"hidden_{index}")
            for index, units in enumerate(config.hidden)
        ]
        # So that two sentences are at first as alike as their sums, whatever the widths.
        self._layers.append(
            tf_keras.layers.Dense(
                config.embedding_dim, kernel_initializer="orthogonal", name="embedding"
            )
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


class SqrtNEmbedding(tf_keras.layers.Layer):
    """The sum of the ids' vectors divided by sqrt(n), n the number of ids of the row."""

    def __init__(
        self,
        shape: tuple[int, int],
        *,
        initializer: str | tf_keras.initializers.Initializer,
        name: str,
    ):
        super().__init__(name=name)
        self._shape = shape
        self._initializer = initializer

    def build(self, input_shape: tf.TensorShape) -> None:
        """Makes the table, [buckets, dim]."""
        super().build(input_shape)
        self.table = self.add_weight("table", self._shape, initializer=self._initializer)

    def call(self, ids: tf.Tensor, places: tf.Tensor) -> tf.Tensor:
        """Looks up the ids at some places, of which every row has one.

        Args:
          ids: int32 [batch, tokens].
          places: int64 [n, 2], row by row.

        Returns:
          [batch, dim].
        """
        return tf.cast(embedding.sqrt_n_sums(self.table, ids, places), self.compute_dtype)

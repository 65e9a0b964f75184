"""Deep averaging network over words and bigrams (Yang et al. 2018, section 2.3.1)."""

from typing import Any

import tensorflow as tf
import tf_keras

from model.configs import schema
from model.layers import embedding
from model.layers.dropout import IdDropout
from model.layers.encoders import SentenceEncoder, register_encoder
from model.text import BIGRAMS, CHAR_NGRAMS, PADDING, WORDS
from model.text.preprocessing import NGRAMS_A_WORD, TextToIds

_AT_ONCE = 8192
"""Words of which vectors are composed for an export together."""


@register_encoder("averaging", schema.Averaging)
class AveragingEncoder(SentenceEncoder):
    """Word and bigram vectors, each summed and divided by sqrt(n), added; then a DNN.

    The paper leaves open how the two sums meet; they are added here, so that the DNN's input
    keeps the width of a word vector. Words begin as random vectors and bigrams at zero: most
    bigrams of a new sentence were never trained, and must not drown its words in noise.

    With character n-grams a word's vector is w + c * (the sum of its n-grams' vectors), as in
    fastText (Bojanowski et al. 2017, section 3.2), and a word without an id of its own has those
    of `char_ngrams` besides the vector of its bucket. With weights that are kept, a word's vector
    is multiplied by its weight; what n-grams add to a word without an id of its own is not, and no
    dropout applies to it.

    Args:
      table_sizes: the number of ids of `words` and, if there are any, of `bigrams` and
        `char_ngrams`.
      composes_words: whether words of the vocabulary get n-grams; not where their vectors contain
        them already (`for_export`).
      projects: whether the last layer multiplies by a matrix; not where the vectors contain it
        already (`for_export`), which are then of `embedding_dim` numbers.
      **config: the parameters of `schema.Averaging`.
    """

    def __init__(
        self,
        *,
        table_sizes: dict[str, int],
        composes_words: bool = True,
        projects: bool = True,
        name: str = "averaging_encoder",
        **config: Any,
    ):
        super().__init__(name=name)
        self._config = schema.Averaging(**config)
        self.embedding_dim, word_dim = self._config.embedding_dim, self._config.word_dim
        self._table_sizes = dict(table_sizes)
        self._dropout = {
            WORDS: IdDropout(self._config.word_dropout),
            BIGRAMS: IdDropout(self._config.bigram_dropout),
        }
        random_unit = tf_keras.initializers.RandomNormal(stddev=word_dim**-0.5)
        self._words = SqrtNEmbedding(
            table_sizes[WORDS], word_dim, initializer=random_unit, name="words"
        )
        if BIGRAMS in table_sizes:
            self._bigrams = SqrtNEmbedding(
                table_sizes[BIGRAMS], word_dim, initializer="zeros", name="bigrams"
            )
        if CHAR_NGRAMS in table_sizes:
            self._char_ngrams = CharNgrams(
                table_sizes[CHAR_NGRAMS],
                word_dim,
                words=table_sizes[WORDS] if composes_words else 0,
                dropout=self._config.char_ngram_dropout,
                weight=self._config.char_ngram_weight,
            )
        self.word_weights: tf.Variable | None = None
        """float32 [ids of words], or None."""
        self._composes = self._config.word_weights != schema.INITIAL or (
            CHAR_NGRAMS in table_sizes and composes_words
        )
        self._layers = [
            tf_keras.layers.Dense(units, activation=self._config.activation, name=f"hidden_{index}")
            for index, units in enumerate(self._config.hidden)
        ]
        self._projects = projects
        # So that two sentences are at first as alike as their sums, whatever the widths.
        self._layers.append(
            tf_keras.layers.Dense(
                self.embedding_dim, kernel_initializer="orthogonal", name="embedding"
            )
            if projects
            else Bias(name="embedding")
        )

    def build(self, input_shape: Any) -> None:
        """Makes the tables, before words are composed of them."""
        super().build(input_shape)
        # Seeds are drawn in this order: first dropout's, then the tables'.
        for dropout in self._dropout.values():
            dropout.build(None)
        for layer in self._kinds.values():
            with tf.name_scope(layer.name):
                layer.build(None)
        if self._config.word_weights != schema.INITIAL:
            self.word_weights = self.add_weight(
                "word_weights",
                [self._table_sizes[WORDS]],
                initializer="ones",
                trainable=self._config.word_weights == schema.LEARNED,
            )

    @property
    def _kinds(self) -> dict[str, "SqrtNEmbedding | CharNgrams"]:
        """The layer of each kind of ids."""
        layers = {WORDS: "_words", BIGRAMS: "_bigrams", CHAR_NGRAMS: "_char_ngrams"}
        return {kind: getattr(self, layers[kind]) for kind in layers if kind in self._table_sizes}

    @property
    def tables(self) -> dict[str, tf.Variable]:
        """The vectors of the ids of each kind: [ids, word_dim]."""
        return {kind: layer.table for kind, layer in self._kinds.items()}

    def use_text(self, text: TextToIds) -> None:
        """Learns the n-grams of the vocabulary's words."""
        if CHAR_NGRAMS in self._table_sizes:
            self._char_ngrams.of_word.assign(text.char_ngrams_of_words())

    def word_vectors(self, ids: tf.Tensor) -> tf.Tensor:
        """Ids of words, int32 [any shape] -> their vectors, [that shape, word_dim]."""
        if not self._composes:
            return embedding.vectors(self._words.table, ids)
        different, positions = tf.unique(tf.reshape(ids, [-1]))
        flat = tf.gather(self._composed(different), positions)
        return tf.reshape(flat, tf.concat([tf.shape(ids), [self._words.output_dim]], axis=0))

    def call(self, ids: dict[str, tf.Tensor], training: bool = False) -> dict[str, tf.Tensor]:
        """int32 [batch, tokens] of each kind -> `default`: [batch, embedding_dim]."""
        words = self._dropout[WORDS](ids[WORDS], training=training)
        words_at = tf.where(words != PADDING)
        in_halves = training is not True
        if self._composes:  # each word of the batch once
            different, positions = tf.unique(tf.gather_nd(words, words_at))
            vectors = self._composed(different, training=training)
            hidden = embedding.segment_sqrt_n(vectors, positions, words_at[:, 0])
        else:
            hidden = self._words(words, words_at, in_halves=in_halves)
        if CHAR_NGRAMS in self._table_sizes:
            hidden += self._char_ngrams(ids[CHAR_NGRAMS]) * _one_by_root(words, hidden.dtype)
        if BIGRAMS in self._table_sizes:
            bigrams = self._dropout[BIGRAMS](ids[BIGRAMS], training=training)
            # A row has as many bigrams as words where none were dropped.
            bigrams_at = words_at if training is False else tf.where(bigrams != PADDING)
            sums = self._bigrams(bigrams, bigrams_at, in_halves=in_halves)
            hidden += self._config.bigram_weight * sums
        for layer in self._layers:
            hidden = layer(hidden)
        return {"default": tf.math.l2_normalize(tf.cast(hidden, tf.float32), axis=-1)}

    def _composed(self, ids: tf.Tensor, training: bool | tf.Tensor = False) -> tf.Tensor:
        """Weight * (w + c * sum of n-grams): int32 [words] -> [words, word_dim]."""
        vectors = embedding.vectors(self._words.table, ids)
        if CHAR_NGRAMS in self._table_sizes:
            vectors += self._char_ngrams.of_words(ids, training=training)
        if self.word_weights is not None:
            vectors *= embedding.rows(self.word_weights, ids)[:, tf.newaxis]
        return tf.cast(vectors, self.compute_dtype)

    def for_export(self, *, keeps_word_vectors: bool = False) -> "AveragingEncoder":
        """An encoder of the same values: vectors contain all that sums and products allow.

        Words have their n-grams and weights in their vectors. Without hidden layers, all vectors
        are multiplied by the last layer's matrix beforehand, unless they would grow by it: a sum
        of products is the product of the sum.
        """
        last = self._layers[-1]
        projects = self._projects and (
            keeps_word_vectors
            or len(self._layers) > 1
            or self.embedding_dim > self._words.output_dim
        )
        if not self._composes and projects == self._projects:
            return self
        config = self._config.as_dict() | {"word_weights": schema.INITIAL}
        if not projects:
            config["word_dim"] = self.embedding_dim
        folded = AveragingEncoder(
            table_sizes=self._table_sizes, composes_words=False, projects=projects, **config
        )
        folded.make_variables()
        for kind, table in self.tables.items():
            for start in range(0, self._table_sizes[kind], _AT_ONCE):
                ids = tf.range(start, min(start + _AT_ONCE, self._table_sizes[kind]))
                rows = self._composed(ids) if kind == WORDS else tf.gather(table, ids)
                if projects != self._projects:
                    rows = tf.matmul(rows, last.kernel)
                folded.tables[kind].scatter_nd_update(ids[:, tf.newaxis], rows)
        for layer, new in zip(self._layers, folded._layers, strict=True):
            new.set_weights(layer.get_weights()[-len(new.weights) :])
        return folded


class Bias(tf_keras.layers.Layer):
    """Adds a bias: [batch, units] -> the same shape."""

    def build(self, input_shape: tf.TensorShape) -> None:
        """Makes the bias, [units]."""
        super().build(input_shape)
        self.bias = self.add_weight("bias", input_shape[-1:], initializer="zeros")

    def call(self, inputs: tf.Tensor) -> tf.Tensor:
        """[batch, units] -> the same shape."""
        return inputs + self.bias


def _one_by_root(words: tf.Tensor, dtype: tf.DType) -> tf.Tensor:
    """1 / sqrt(n), n the number of words of a row: int32 [batch, tokens] -> [batch, 1]."""
    count = tf.math.count_nonzero(words != PADDING, axis=1, keepdims=True, dtype=tf.float32)
    return tf.cast(tf.math.rsqrt(tf.maximum(count, 1)), dtype)


class CharNgrams(tf_keras.layers.Layer):
    """Character n-grams: sums of their vectors, times a weight.

    Args:
      input_dim: the number of ids.
      output_dim: numbers of a vector.
      words: how many ids of words there are whose n-grams it knows.
      dropout: the part of a word's n-grams left out at random in training.
      weight: what a sum is multiplied by.
    """

    def __init__(
        self,
        input_dim: int,
        output_dim: int,
        *,
        words: int = 0,
        dropout: float = 0.0,
        weight: float = 1.0,
    ):
        super().__init__(name="char_ngrams")
        self.input_dim, self.output_dim, self.words = input_dim, output_dim, words
        self.dropout, self.weight = dropout, weight
        self._drop = IdDropout(dropout)

    def build(self, input_shape: tf.TensorShape | None) -> None:
        """Makes the table, [input_dim, output_dim], and the n-grams of the words."""
        super().build(input_shape)
        self.table = self.add_weight(
            "table",
            (self.input_dim, self.output_dim),
            initializer=tf_keras.initializers.RandomNormal(stddev=self.output_dim**-0.5),
        )
        if self.words:
            self.of_word = self.add_weight(
                "of_word",
                (self.words, NGRAMS_A_WORD),
                dtype=tf.int32,
                initializer="zeros",
                trainable=False,
            )

    def call(self, ids: tf.Tensor) -> tf.Tensor:
        """int32 [batch, n-grams] -> [batch, output_dim]; 0 for a row of padding alone."""
        return self.weight * tf.cast(embedding.sums(self.table, ids), self.compute_dtype)

    def of_words(self, ids: tf.Tensor, training: bool | tf.Tensor = False) -> tf.Tensor:
        """Ids of words, int32 [n] -> their n-grams' sums, [n, output_dim], of the table's dtype."""
        ngrams = self._drop(embedding.rows(self.of_word, ids), training=training)
        return self.weight * embedding.sums(self.table, ngrams, sorts_gradient=True)


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
        initializer: str | tf_keras.initializers.Initializer,
        name: str,
    ):
        super().__init__(name=name)
        self.input_dim, self.output_dim = input_dim, output_dim
        self._initializer = initializer

    def build(self, input_shape: tf.TensorShape) -> None:
        """Makes the table, [input_dim, output_dim]."""
        super().build(input_shape)
        shape = (self.input_dim, self.output_dim)
        self.table = self.add_weight("table", shape, initializer=self._initializer)

    def call(self, ids: tf.Tensor, places: tf.Tensor, *, in_halves: bool = False) -> tf.Tensor:
        """Looks up the ids at some places, of which every row has one.

        Args:
          ids: int32 [batch, tokens].
          places: int64 [n, 2], row by row.
          in_halves: on two cores (`embedding.sqrt_n_sums`).

        Returns:
          [batch, output_dim].
        """
        sums = embedding.sqrt_n_sums(self.table, ids, places, in_halves=in_halves)
        return tf.cast(sums, self.compute_dtype)

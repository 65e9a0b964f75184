"""Deep averaging network over words and bigrams (Yang et al. 2018, section 2.3.1)."""

import functools
from typing import Any

import tensorflow as tf
import tf_keras

from model.configs import schema
from model.layers import embedding
from model.layers.dropout import IdDropout
from model.layers.encoders import POOL, Pool, SentenceEncoder, register_encoder
from model.text import BIGRAMS, CHAR_NGRAMS, WORDS
from model.text.preprocessing import TextToIds

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

    encodes_together = True

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
        self._words = embedding.Table(table_sizes[WORDS], word_dim, name="words")
        if BIGRAMS in table_sizes:
            self._bigrams = embedding.Table(
                table_sizes[BIGRAMS], word_dim, name="bigrams", initializer="zeros"
            )
        if CHAR_NGRAMS in table_sizes:
            self._char_ngrams = embedding.CharNgrams(
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
    def _kinds(self) -> dict[str, embedding.Table]:
        """The layer of each kind of ids."""
        kinds = (WORDS, BIGRAMS, CHAR_NGRAMS)
        return {kind: getattr(self, f"_{kind}") for kind in kinds if kind in self._table_sizes}

    @property
    def tables(self) -> dict[str, tf.Variable]:
        """The vectors of the ids of each kind: [ids, word_dim]."""
        return {kind: layer.table for kind, layer in self._kinds.items()}

    @property
    def shared_tables(self) -> list[tf.Variable]:
        """All, unless n-grams are dropped: which ones, each replica draws for its own words."""
        return [] if self._config.char_ngram_dropout else list(self.tables.values())

    @property
    def _pool(self) -> Pool | None:
        return POOL.get() if self.shared_tables else None

    def use_text(self, text: TextToIds) -> None:
        """Learns the n-grams of the vocabulary's words."""
        if CHAR_NGRAMS in self._table_sizes:
            self._char_ngrams.of_word.assign(text.char_ngrams_of_words())

    def word_vectors(self, ids: tf.Tensor) -> tf.Tensor:
        """Ids of words, int32 [any shape] -> their vectors, [that shape, word_dim]."""
        pool = self._pool
        if not self._composes and pool is None:
            return embedding.vectors(self._words.table, ids)
        different, positions = tf.unique(tf.reshape(ids, [-1]))
        vectors = pool.rows(self._composed, different) if pool else self._composed(different)
        flat = tf.cast(tf.gather(vectors, positions), self.compute_dtype)
        return tf.reshape(flat, tf.concat([tf.shape(ids), [self._words.output_dim]], axis=0))

    def call(self, ids: dict[str, tf.Tensor], training: bool = False) -> dict[str, tf.Tensor]:
        """int32 [batch, tokens] of each kind -> `default`: [batch, embedding_dim]."""
        kept = dict(ids)
        for kind, dropout in self._dropout.items():
            if kind in self._kinds:
                kept[kind] = dropout(ids[kind], training=training)
        if training is True or self._composes:
            bags = {kind: embedding.bags(kept[kind]) for kind in self._kinds}
            pooled_of = functools.partial(self._pooled, training=training)
            count = tf.shape(ids[WORDS])[0]
            pool = self._pool
            pooled = pool.sums(pooled_of, bags, count) if pool else pooled_of(bags, count)
        else:
            pooled = self._pooled_in_place(kept)
        hidden = tf.cast(pooled, self.compute_dtype)
        for layer in self._layers:
            hidden = layer(hidden)
        return {"default": tf.math.l2_normalize(tf.cast(hidden, tf.float32), axis=-1)}

    def _pooled(
        self, bags: dict[str, embedding.Bags], count: tf.Tensor, training: bool | tf.Tensor
    ) -> tf.Tensor:
        """The sums of vectors, added; each word and n-gram of the batch is looked up once.

        Of `count` texts, int32 scalar: float32 [count, word_dim], or a replica's columns of it.
        """
        words = bags[WORDS]
        by_root = embedding.one_by_root(words.texts, count)
        different, positions = tf.unique(words.ids)
        vectors, number = embedding.vectors(self._words.table, different), tf.size(different)
        sums = []
        if CHAR_NGRAMS in bags:
            known = self._char_ngrams.bags(different, training=training)
            unknown = bags[CHAR_NGRAMS]
            both = embedding.Bags(
                tf.concat([known.ids, unknown.ids], axis=0),
                tf.concat([known.texts, unknown.texts + tf.cast(number, tf.int64)], axis=0),
            )
            factors = tf.concat([tf.ones([number]), by_root], axis=0)
            found = self._char_ngrams.sums(both, factors, count=number + count)
            own_ngrams, of_unknown = tf.split(found, tf.stack([number, count]))
            vectors, sums = tf.add_n([vectors, own_ngrams]), [of_unknown]
        weights = tf.gather(by_root, words.texts)
        if self.word_weights is not None:
            weights *= embedding.rows(self.word_weights, words.ids)
        sums.append(
            embedding.weighted_sums(vectors, positions, words.texts, weights, shape=(count, number))
        )
        if BIGRAMS in bags:
            bigrams = bags[BIGRAMS]
            factors = self._config.bigram_weight * embedding.one_by_root(bigrams.texts, count)
            sums.append(embedding.table_sums(self._bigrams.table, bigrams, factors, count=count))
        return tf.add_n(sums)

    def _pooled_in_place(self, ids: dict[str, tf.Tensor]) -> tf.Tensor:
        """As `_pooled`, with operations that an export keeps: float32 [batch, word_dim]."""
        pooled = embedding.sqrt_n_sums(self._words.table, ids[WORDS])
        if CHAR_NGRAMS in self._kinds:
            of, count = embedding.bags(ids[WORDS]), tf.shape(ids[WORDS])[0]
            by_root = embedding.one_by_root(of.texts, count)[:, tf.newaxis]
            pooled += (
                by_root
                * self._char_ngrams.weight
                * embedding.sums(self._char_ngrams.table, ids[CHAR_NGRAMS])
            )
        if BIGRAMS in self._kinds:
            pooled += self._config.bigram_weight * embedding.sqrt_n_sums(
                self._bigrams.table, ids[BIGRAMS]
            )
        return pooled

    def _composed(self, ids: tf.Tensor) -> tf.Tensor:
        """Weight * (w + c * sum of n-grams): different words, int32 [n] -> [n, word_dim]."""
        vectors = embedding.vectors(self._words.table, ids)
        if CHAR_NGRAMS in self._kinds and self._char_ngrams.words:
            count = tf.size(ids)
            bags = self._char_ngrams.bags(ids)
            vectors += self._char_ngrams.sums(bags, tf.ones([count]), count=count)
        if self.word_weights is not None:
            vectors *= embedding.rows(self.word_weights, ids)[:, tf.newaxis]
        return vectors

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

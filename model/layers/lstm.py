"""LSTM or bidirectional LSTM over the words (Yang et al. 2018, section 2.3, footnote 2).

The paper only says that it was tried; sizes and pooling are those of InferSent, which its
results are compared with (Conneau et al. 2017, section 3.2).
"""

from typing import Any

import tensorflow as tf
import tf_keras

from model.configs import schema
from model.layers.dropout import IdDropout
from model.layers.embedding import Embedding
from model.layers.encoders import SentenceEncoder, register_encoder
from model.text import PADDING, WORDS


@register_encoder("recurrent", schema.Recurrent)
class RecurrentEncoder(SentenceEncoder):
    """Word vectors, LSTM layers, last state or maximum over the words, maybe a projection.

    `config` are the parameters of `schema.Recurrent`.
    """

    def __init__(
        self, *, table_sizes: dict[str, int], name: str = "recurrent_encoder", **config: Any
    ):
        super().__init__(name=name)
        self._config = given = schema.Recurrent(**config)
        self._word_dropout = IdDropout(given.word_dropout)
        self._table = Embedding(table_sizes[WORDS], given.word_dim, name="words")
        self._dropout = tf_keras.layers.Dropout(given.dropout)
        self._layers = [self._lstm(f"lstm_{index}") for index in range(given.layers)]
        self.embedding_dim = given.embedding_dim or given.units * (1 + given.bidirectional)
        self._projection = (
            tf_keras.layers.Dense(given.embedding_dim, name="embedding")
            if given.embedding_dim
            else None
        )

    def _lstm(self, name: str) -> tf_keras.layers.Layer:
        """[batch, tokens, dim] -> outputs [batch, tokens, units (x2)], then the last states."""
        lstm = tf_keras.layers.LSTM(
            self._config.units,
            return_sequences=True,
            return_state=True,
            zero_output_for_mask=True,
            name=name,
        )
        is_both = self._config.bidirectional
        return tf_keras.layers.Bidirectional(lstm, name=name) if is_both else lstm

    @property
    def tables(self) -> dict[str, tf.Variable]:
        """The vectors of the words' ids: [ids, word_dim]."""
        return {WORDS: self._table.embeddings}

    def call(self, ids: dict[str, tf.Tensor], training: bool = False) -> dict[str, tf.Tensor]:
        """int32 [batch, tokens] `words` -> `default`, `sequence_output` (0 at padding), `mask`."""
        rows, tokens = tf.unstack(tf.shape(ids[WORDS]))
        words = _padding_last(self._word_dropout(_never_empty(ids[WORDS]), training=training))
        real = words != PADDING
        sequence = self._table(words)
        for layer in self._layers:
            sequence, *states = layer(self._dropout(sequence, training=training), mask=real)
        if self._config.pooling == schema.LAST:
            # Hidden and cell state by turns, of the forward and then of the backward direction.
            pooled = tf.concat(states[::2], axis=-1)
        else:
            smallest = sequence.dtype.min
            pooled = tf.reduce_max(tf.where(real[:, :, tf.newaxis], sequence, smallest), axis=1)
        if self._projection:
            pooled = self._projection(pooled)
        return {
            "default": tf.math.l2_normalize(tf.cast(pooled, tf.float32), axis=-1)[:rows],
            "sequence_output": sequence[:rows, :tokens],
            "mask": real[:rows, :tokens],
        }


def _never_empty(ids: tf.Tensor) -> tf.Tensor:
    """[batch, tokens] -> the same, at least [1, 1]: LSTM kernels fail on a batch of none."""
    if ids.shape.is_fully_defined():
        return ids
    lacking = tf.cast(tf.shape(ids) == 0, tf.int32)
    return tf.pad(ids, tf.stack([tf.zeros_like(lacking), lacking], axis=1))


def _padding_last(ids: tf.Tensor) -> tf.Tensor:
    """The ids that are not `PADDING` in their order, then padding: int32 [batch, tokens]."""
    # Skipping a dropped word in its place says the same, but cuDNN takes no such rows.
    order = tf.argsort(tf.cast(ids == PADDING, tf.int32), axis=1, stable=True)
    return tf.gather(ids, order, batch_dims=1)

"""Transformer encoder, mean over the real positions (Yang et al. 2018, section 2.3.2)."""

from typing import Any

import tensorflow as tf
import tf_keras
from official.nlp.modeling import layers as garden

from model.configs import schema
from model.layers.dropout import IdDropout
from model.layers.embedding import Embedding
from model.layers.encoders import SentenceEncoder, register_encoder
from model.text import PADDING, WORDS


@register_encoder("transformer", schema.Transformer)
class TransformerEncoder(SentenceEncoder):
    """Word vectors plus a sine/cosine timing signal, self-attention layers, mean, projection.

    Layer normalization comes before each sub-layer and once at the end, as in tensor2tensor,
    the implementation that the paper took its defaults from.

    `config` are the parameters of `schema.Transformer`.
    """

    def __init__(
        self, *, table_sizes: dict[str, int], name: str = "transformer_encoder", **config: Any
    ):
        super().__init__(name=name)
        given = schema.Transformer(**config)
        self.embedding_dim = given.embedding_dim
        self._hidden = given.hidden
        self._word_dropout = IdDropout(given.word_dropout)
        self._table = Embedding(table_sizes[WORDS], given.hidden, name="words")
        self._timing = garden.RelativePositionEmbedding(given.hidden, name="timing")
        self._dropout = tf_keras.layers.Dropout(given.dropout)
        self._blocks = [
            garden.TransformerEncoderBlock(
                num_attention_heads=given.heads,
                inner_dim=given.filter,
                inner_activation="relu",
                norm_first=True,
                output_dropout=given.dropout,
                attention_dropout=given.dropout,
                inner_dropout=given.dropout,
                name=f"block_{index}",
            )
            for index in range(given.layers)
        ]
        self._norm = tf_keras.layers.LayerNormalization(epsilon=1e-6, name="norm")
        self._projection = tf_keras.layers.Dense(given.embedding_dim, name="embedding")

    @property
    def tables(self) -> dict[str, tf.Variable]:
        """The vectors of the words' ids: [ids, hidden]."""
        return {WORDS: self._table.embeddings}

    def call(self, ids: dict[str, tf.Tensor], training: bool = False) -> dict[str, tf.Tensor]:
        """int32 [batch, tokens] `words` -> `default`, `sequence_output` and `mask`."""
        words = self._word_dropout(ids[WORDS], training=training)
        real = tf.cast(words != PADDING, tf.float32)
        hidden = self._table(words) * self._hidden**0.5
        timing = tf.cast(self._timing(hidden), hidden.dtype)  # float32 in every dtype policy
        hidden = self._dropout(hidden + timing, training=training)
        # [batch, from, to]: every position attends to the real ones.
        mask = real[:, tf.newaxis, :] * tf.ones_like(real)[:, :, tf.newaxis]
        for block in self._blocks:
            hidden = block([hidden, mask], training=training)
        hidden = self._norm(hidden)
        count = tf.reduce_sum(real, axis=1, keepdims=True)
        total = tf.reduce_sum(hidden * tf.cast(real[:, :, tf.newaxis], hidden.dtype), axis=1)
        mean = total / tf.cast(count, hidden.dtype)
        embedding = tf.cast(self._projection(mean), tf.float32)
        return {
            "default": tf.math.l2_normalize(embedding, axis=-1),
            "sequence_output": hidden,
            "mask": words != PADDING,
        }

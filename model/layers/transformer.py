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

    Args:
      table_sizes: the number of ids of `words`.
      layers: how many self-attention layers.
      heads: attention heads of each.
      hidden: numbers of a word's vector and of each layer's output.
      filter: units of each layer's feed-forward network.
      embedding_dim: numbers of the sentence embedding.
      dropout: the part of the numbers left out at random in training, from 0 to 1.
      word_dropout: the part of the words left out.
    """

    def __init__(
        self,
        *,
        table_sizes: dict[str, int],
        layers: int,
        heads: int,
        hidden: int,
        filter: int,  # noqa: A002  the term of tensor2tensor
        embedding_dim: int,
        dropout: float = 0.0,
        word_dropout: float = 0.0,
        name: str = "transformer_encoder",
        **kwargs: Any,
    ):
        super().__init__(name=name, **kwargs)
        self.embedding_dim = embedding_dim
        self._hidden = hidden
        self._word_dropout = IdDropout(word_dropout)
        self._table = Embedding(
            table_sizes[WORDS],
            hidden,
            embeddings_initializer=tf_keras.initializers.RandomNormal(stddev=hidden**-0.5),
            name="words",
        )
        self._timing = garden.RelativePositionEmbedding(hidden, name="timing")
        self._dropout = tf_keras.layers.Dropout(dropout)
        self._blocks = [
            garden.TransformerEncoderBlock(
                num_attention_heads=heads,
                inner_dim=filter,
                inner_activation="relu",
                norm_first=True,
                output_dropout=dropout,
                attention_dropout=dropout,
                inner_dropout=dropout,
                name=f"block_{index}",
            )
            for index in range(layers)
        ]
        self._norm = tf_keras.layers.LayerNormalization(epsilon=1e-6, name="norm")
        self._projection = tf_keras.layers.Dense(embedding_dim, name="embedding")

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

"""Transformer encoder, mean over the real positions (Yang et al. 2018, section 2.3.2)."""

import tensorflow as tf
import tf_keras
from official.nlp.modeling import layers

from model.configs import schema
from model.layers.dropout import IdDropout
from model.layers.embedding import Embedding
from model.text.preprocessing import PADDING, WORDS, table_sizes


class TransformerEncoder(tf_keras.layers.Layer):
    """Word vectors plus a sine/cosine timing signal, self-attention layers, mean, projection.

    Layer normalization comes before each sub-layer and once at the end, as in tensor2tensor,
    the implementation that the paper took its defaults from.
    """

    def __init__(self, config: schema.Transformer, text: schema.Text):
        super().__init__(name="transformer_encoder")
        self.embedding_dim = config.embedding_dim
        self._hidden = config.hidden
        self._word_dropout = IdDropout(config.word_dropout)
        self._table = Embedding(
            table_sizes(text)[WORDS],
            config.hidden,
            embeddings_initializer=tf_keras.initializers.RandomNormal(stddev=config.hidden**-0.5),
            name="words",
        )
        self._timing = layers.RelativePositionEmbedding(config.hidden, name="timing")
        self._dropout = tf_keras.layers.Dropout(config.dropout)
        self._blocks = [
            layers.TransformerEncoderBlock(
                num_attention_heads=config.heads,
                inner_dim=config.filter,
                inner_activation="relu",
                norm_first=True,
                output_dropout=config.dropout,
                attention_dropout=config.dropout,
                inner_dropout=config.dropout,
                name=f"block_{index}",
            )
            for index in range(config.layers)
        ]
        self._norm = tf_keras.layers.LayerNormalization(epsilon=1e-6, name="norm")
        self._projection = tf_keras.layers.Dense(config.embedding_dim, name="embedding")

    @property
    def tables(self) -> dict[str, tf.Variable]:
        """The vectors of the words' ids: [ids, hidden]."""
        return {WORDS: self._table.embeddings}

    def word_vectors(self, ids: tf.Tensor) -> tf.Tensor:
        """Ids of words, int32 [any shape] -> their vectors, [that shape, word_dim]."""
        return self._table(ids)

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

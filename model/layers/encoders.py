"""Sentence encoders: ids -> an L2-normalized sentence embedding, one file each.

An encoder is a Keras layer: `encoder(ids, training=...)` with the ids of `model.text` gives a
dict whose `default` is float32 [batch, embedding_dim]. Sequence encoders add
`sequence_output`, [batch, tokens, hidden], and `mask`, bool [batch, tokens], which of those
positions have a word. `encoder.embedding_dim` says how wide it is; `encoder.tables` are the
vectors of each kind of ids, and `encoder.word_vectors(ids)` looks words up in theirs.
"""

import tensorflow as tf
import tf_keras

from model.configs import schema
from model.layers.dan import AveragingEncoder
from model.layers.dropout import random_state
from model.layers.lstm import RecurrentEncoder
from model.layers.transformer import TransformerEncoder
from model.text.preprocessing import BIGRAMS, WORDS


def build(config: schema.Encoder, text: schema.Text) -> tf_keras.layers.Layer:
    """The encoder that `config.type` names, with its variables made.

    Raises:
      ValueError: if `config.type` or a choice of the encoder that it names is unknown.
    """
    encoder = _create(config, text)
    one_id = tf.ones([1, 1], tf.int32)
    encoder({WORDS: one_id, BIGRAMS: one_id})
    encoder.random_state = random_state(encoder)
    return encoder


def _create(config: schema.Encoder, text: schema.Text) -> tf_keras.layers.Layer:
    match config.type:
        case "averaging":
            return AveragingEncoder(config.averaging, text)
        case "transformer":
            return TransformerEncoder(config.transformer, text)
        case "recurrent":
            return RecurrentEncoder(config.recurrent, text)
        case other:
            raise ValueError(
                f"encoder.type: {other!r}; accepted are averaging, transformer, recurrent"
            )

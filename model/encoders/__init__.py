"""Sentence encoders: ids -> an L2-normalized sentence embedding, one file each.

An encoder is a Keras layer: `encoder(ids, training=...)` with the ids of `model.text` gives a
dict whose `default` is float32 [batch, embedding_dim]. Sequence encoders, and others where it is
asked for, add `sequence_output`, [batch, tokens, hidden], and `mask`, bool [batch, tokens], which
of those positions have a word. `encoder.embedding_dim` says how wide an embedding is;
`encoder.tables` are the vectors of each kind of ids.
"""

import tensorflow as tf
import tf_keras

from model import configs
from model.encoders.averaging import AveragingEncoder
from model.encoders.dropout import random_state
from model.encoders.recurrent import RecurrentEncoder
from model.encoders.transformer import TransformerEncoder
from model.text import BIGRAMS, WORDS


def build(
    config: configs.Encoder, text: configs.Text, *, sequence: bool = False
) -> tf_keras.layers.Layer:
    """The encoder that `config.type` names, with its variables made.

    Args:
      config: the encoder's.
      text: how its ids are made.
      sequence: whether an encoder that is none of sequences gives its words' vectors besides.

    Raises:
      ValueError: if `config.type` or a choice of the encoder that it names is unknown.
    """
    encoder = _create(config, text, sequence)
    one_id = tf.ones([1, 1], tf.int32)
    encoder({WORDS: one_id, BIGRAMS: one_id})
    encoder.random_state = random_state(encoder)
    return encoder


def _create(config: configs.Encoder, text: configs.Text, sequence: bool) -> tf_keras.layers.Layer:
    match config.type:
        case "averaging":
            return AveragingEncoder(config.averaging, text, sequence=sequence)
        case "transformer":
            return TransformerEncoder(config.transformer, text)
        case "recurrent":
            return RecurrentEncoder(config.recurrent, text)
        case other:
            raise ValueError(
                f"encoder.type: {other!r}; accepted are averaging, transformer, recurrent"
            )

"""Sentence encoders: ids -> an L2-normalized sentence embedding, one file each.

An encoder is a Keras layer: `encoder(ids, training=...)` with the ids of `model.text` gives a
dict whose `default` is float32 [batch, embedding_dim]. Sequence encoders add
`sequence_output`, [batch, tokens, hidden].
"""

import tf_keras

from model import configs
from model.encoders.averaging import AveragingEncoder
from model.encoders.transformer import TransformerEncoder


def build(config: configs.Encoder, text: configs.Text) -> tf_keras.layers.Layer:
    """The encoder that `config.type` names."""
    match config.type:
        case "averaging":
            return AveragingEncoder(config.averaging, text)
        case "transformer":
            return TransformerEncoder(config.transformer, text)
        case other:
            raise ValueError(f"encoder.type: {other!r}; accepted are averaging, transformer")

"""The input-response model (Yang et al. 2018, section 2.2, figure 3)."""

import math
from typing import Any

import tensorflow as tf
import tf_keras

from model.configs import schema
from model.layers import encoders, nli_head
from model.layers.dropout import random_state
from model.tasks.losses import Encoded
from model.text.preprocessing import WORDS, TextToIds


class DualEncoder(tf_keras.Model):
    """One encoder for both sides; the response goes on through a feed-forward network.

    For natural language inference the same encoder feeds a classifier (figure 5).
    """

    def __init__(self, config: schema.DualEncoder):
        super().__init__(name="dual_encoder")
        self._config = config
        self.heads = tuple(config.heads)
        self.encoder = encoders.build(config.encoder, config.text)
        if schema.RESPONSE_SELECTION in config.heads:
            self.response_network = ResponseNetwork(
                config.response_network, self.encoder.embedding_dim
            )
        if schema.NLI in config.heads:
            self.nli_head = nli_head.NliHead(config.nli)
        self._log_score_scale = self._add_log_score_scale() if config.learned_score_scale else None

    def _add_log_score_scale(self) -> tf.Variable:
        """The logarithm, since a scale below zero would prefer the wrong responses."""
        start = self._config.score_scale
        if start <= 0:
            raise ValueError(f"score_scale: {start!r}; a learned one begins above 0")
        return self.add_weight(
            name="log_score_scale",
            shape=(),
            dtype=tf.float32,
            initializer=tf_keras.initializers.Constant(math.log(start)),
            experimental_autocast=False,  # steps of training are lost in bfloat16's 8 bits
        )

    @property
    def score_scale(self) -> tf.Tensor:
        """What the dot products are multiplied by: float32 scalar."""
        if self._log_score_scale is None:
            return tf.constant(self._config.score_scale, tf.float32)
        return tf.exp(self._log_score_scale)

    def call(self, pairs: dict[str, dict[str, tf.Tensor]], training: bool = False) -> Encoded:
        """Encodes the ids of `input` and `response`."""
        return Encoded(
            inputs=self.encode_inputs(pairs["input"], training=training),
            responses=self.encode_responses(pairs["response"], training=training),
            score_scale=self.score_scale,
        )

    def get_config(self) -> dict[str, Any]:
        """The configuration, which Keras asks for when it saves."""
        return self._config.as_dict()

    def encode_inputs(self, ids: dict[str, tf.Tensor], training: bool = False) -> tf.Tensor:
        """The sentence embedding u, of unit length: [batch, embedding_dim]."""
        return self.encoder(ids, training=training)["default"]

    def encode_responses(self, ids: dict[str, tf.Tensor], training: bool = False) -> tf.Tensor:
        """v', the response as the score sees it: [batch, embedding_dim]."""
        return self.response_network(self.encoder(ids, training=training)["default"])

    def classify(
        self,
        premises: dict[str, tf.Tensor],
        hypotheses: dict[str, tf.Tensor],
        training: bool = False,
    ) -> tf.Tensor:
        """Logits of each member, in the order of `tfrecord.LABELS`: float32 [batch, members, 3]."""
        first, second = (
            nli_head.side(self.encode_inputs(ids, training), ids[WORDS], self.encoder.word_vectors)
            for ids in (premises, hypotheses)
        )
        return self.nli_head(first, second, training=training)


def build(config: schema.DualEncoder, *, seed: int) -> DualEncoder:
    """The model, with its variables made, the initial weights drawn by the seed."""
    tf_keras.utils.set_random_seed(seed)
    model = DualEncoder(config)
    ids = TextToIds(config.text)(tf.constant(["any text"]))
    if schema.RESPONSE_SELECTION in config.heads:
        model({"input": ids, "response": ids})
    if schema.NLI in config.heads:
        model.classify(ids, ids)
        model.nli_head.random_state = random_state(model.nli_head)
    return model


class ResponseNetwork(tf_keras.layers.Layer):
    """From what a response says to what it would be said to: v -> v'."""

    def __init__(self, config: schema.ResponseNetwork, embedding_dim: int):
        # What is added goes by in full; the layers narrow their inputs themselves.
        super().__init__(name="response_network", autocast=False)
        self._residual = config.residual
        self._normalize = config.normalize
        self._layers = [
            tf_keras.layers.Dense(units, activation=config.activation, name=f"hidden_{index}")
            for index, units in enumerate(config.hidden)
        ]
        start = "zeros" if config.residual else "glorot_uniform"
        self._layers.append(
            tf_keras.layers.Dense(embedding_dim, kernel_initializer=start, name="response")
        )

    def call(self, embeddings: tf.Tensor) -> tf.Tensor:
        """float32 [batch, embedding_dim] -> the same shape."""
        responses = embeddings
        for layer in self._layers:
            responses = layer(responses)
        responses = tf.cast(responses, tf.float32)
        if self._residual:
            responses += embeddings
        return tf.math.l2_normalize(responses, axis=-1) if self._normalize else responses

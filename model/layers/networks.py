"""What the sides of a pair go through behind the encoder (Yang et al. 2018, figure 3)."""

from typing import Any

import tensorflow as tf
import tf_keras

from model.configs import schema

_START = 0.3
"""Of the context's weight."""


class ResponseNetwork(tf_keras.layers.Layer):
    """v -> v': the response's embedding, brought to where inputs that it answers lie.

    `config` are the parameters of `schema.ResponseNetwork`.
    """

    def __init__(self, embedding_dim: int, *, name: str = "response_network", **config: Any):
        # Autocast is off: the residual stays float32, and the layers narrow their own inputs.
        super().__init__(name=name, autocast=False)
        self._config = schema.ResponseNetwork(**config)
        self._layers = [
            tf_keras.layers.Dense(units, activation=self._config.activation, name=f"hidden_{index}")
            for index, units in enumerate(self._config.hidden)
        ]
        start = "zeros" if self._config.residual else "glorot_uniform"
        self._layers.append(
            tf_keras.layers.Dense(embedding_dim, kernel_initializer=start, name="response")
        )

    def call(self, embeddings: tf.Tensor) -> tf.Tensor:
        """float32 [batch, embedding_dim] -> the same shape."""
        responses = embeddings
        for layer in self._layers:
            responses = layer(responses)
        responses = tf.cast(responses, tf.float32)
        if self._config.residual:
            responses += embeddings
        return tf.math.l2_normalize(responses, axis=-1) if self._config.normalize else responses


class ContextNetwork(tf_keras.layers.Layer):
    """u, c -> the embedding of an input in its context: (u + w c + W c + b) of unit length.

    c is the same encoder's embedding of the context. The scalar w, the matrix W and b are trained;
    W and b begin at 0. The multi-context model of Henderson et al. 2020 (ConveRT) also adds an
    embedding of earlier turns to that of the last one.
    """

    def __init__(self, embedding_dim: int, *, name: str = "context_network", **kwargs: Any):
        # Autocast is off: sums stay float32, and the layer narrows its own input.
        super().__init__(name=name, autocast=False, **kwargs)
        self._change = tf_keras.layers.Dense(
            embedding_dim, kernel_initializer="zeros", name="change"
        )

    def build(self, input_shape: Any) -> None:
        """Makes the weight of the context."""
        super().build(input_shape)
        self.context_weight = self.add_weight(
            "context_weight",
            (),
            initializer=tf_keras.initializers.Constant(_START),
            experimental_autocast=False,
        )

    def call(self, inputs: tf.Tensor, context: tf.Tensor, has_context: tf.Tensor) -> tf.Tensor:
        """float32 [batch, embedding_dim] twice, bool [batch] -> float32 [batch, embedding_dim].

        Where there is no context, u stays as it is.
        """
        change = tf.cast(self._change(context), tf.float32)
        joined = tf.math.l2_normalize(inputs + self.context_weight * context + change, axis=-1)
        return tf.where(has_context[:, tf.newaxis], joined, inputs)

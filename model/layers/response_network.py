"""The feed-forward network behind the response's embedding (Yang et al. 2018, figure 3)."""

from typing import Any

import tensorflow as tf
import tf_keras

from model.configs import schema


class ResponseNetwork(tf_keras.layers.Layer):
    """v -> v': the response's embedding, brought to where inputs that it answers lie.

    Args:
      embedding_dim: numbers of a sentence embedding.
      **config: the parameters of `schema.ResponseNetwork`.
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

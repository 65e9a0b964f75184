"""The feed-forward network behind the response's embedding (Yang et al. 2018, figure 3)."""

from collections.abc import Sequence
from typing import Any

import tensorflow as tf
import tf_keras

from model.serialization import serializable


@serializable
class ResponseNetwork(tf_keras.layers.Layer):
    """v -> v': the response's embedding, brought to where inputs that it answers lie.

    Args:
      embedding_dim: numbers of a sentence embedding.
      hidden: units of each hidden layer.
      activation: of the hidden layers.
      residual: whether the output is added to the input, beginning at nothing.
      normalize: whether the output has unit length.
    """

    def __init__(
        self,
        embedding_dim: int,
        *,
        hidden: Sequence[int] = (),
        activation: str = "tanh",
        residual: bool = False,
        normalize: bool = False,
        name: str = "response_network",
        **kwargs: Any,
    ):
        # Autocast is off: the residual stays float32, and the layers narrow their own inputs.
        super().__init__(name=name, autocast=False, **kwargs)
        self._residual = residual
        self._normalize = normalize
        self._layers = [
            tf_keras.layers.Dense(units, activation=activation, name=f"hidden_{index}")
            for index, units in enumerate(hidden)
        ]
        start = "zeros" if residual else "glorot_uniform"
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

    def build_from_config(self, config: dict[str, Any]) -> None:
        """Makes the variables of the layers inside, which Keras then loads."""
        del config
        self(tf.zeros([1, self._layers[-1].units]))

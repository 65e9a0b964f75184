"""What was said before an input joins its embedding."""

from typing import Any

import tensorflow as tf
import tf_keras

_START = 0.3
"""Of the context's weight."""


class ContextNetwork(tf_keras.layers.Layer):
    """u, c -> the embedding of an input in its context: (u + w c + W c + b) of unit length.

    c is the same encoder's embedding of the context. The scalar w, the matrix W and b are trained;
    W and b begin at 0. The multi-context model of Henderson et al. 2020 (ConveRT) also adds an
    embedding of earlier turns to that of the last one.

    Args:
      embedding_dim: numbers of a sentence embedding.
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
        """Joins contexts to inputs.

        Args:
          inputs: u, float32 [batch, embedding_dim].
          context: c, float32 [batch, embedding_dim].
          has_context: bool [batch]; without a context, u stays as it is.

        Returns:
          float32 [batch, embedding_dim], rows of unit length if those of u are.
        """
        change = tf.cast(self._change(context), tf.float32)
        joined = tf.math.l2_normalize(inputs + self.context_weight * context + change, axis=-1)
        return tf.where(has_context[:, tf.newaxis], joined, inputs)

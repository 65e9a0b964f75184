"""An LSTM whose gates may be ELUs (Prijatelj et al. 2017, section 3.2.2).

    f, i, o = s_g(W x_t + U h_{t-1} + b)      each with its own weights; s is the paper's sigma
    c_t = f ∘ c_{t-1} + i ∘ s_c(W_c x_t + U_c h_{t-1} + b_c)
    h_t = o ∘ s_c(c_t)

Keras's LSTM computes this: `recurrent_activation` is s_g, `activation` is s_c, and b_f starts at 1.
"""

from collections.abc import Iterator

import tensorflow as tf
import tf_keras


@tf_keras.saving.register_keras_serializable(package="sts_regression")
def elu_to_1(values: tf.Tensor) -> tf.Tensor:
    """An ELU that never exceeds 1."""
    return tf.minimum(tf.nn.elu(values), 1.0)


GATES = {
    "printed": ("elu", "hard_sigmoid"),
    "bounded": (elu_to_1, "hard_sigmoid"),
    "keras": ("hard_sigmoid", "elu"),
}
"""Readings of section 3.2.2: s_g of the three gates, and s_c of the candidate and of the output.

`printed`: "s_g is an ELU function and s_c is the hard sigmoid". `bounded`: the same, but gates
never exceed 1, so that outputs stay in [-1, 1] for any number of words and layers. `keras`: what
`LSTM(activation="elu")` computed in Keras in 2017, which exchanges the two.
"""


def lstm(
    units: int, *, gates: str, seeds: Iterator[int], go_backwards: bool = False
) -> tf_keras.layers.RNN:
    """An LSTM layer: float32 [batch, time, dim] -> float32 [batch, time, units].

    At a step that `mask` excludes, state and output stay as they are, so that the last output is
    that of the last word.

    Args:
      units: width of the state.
      gates: one of `GATES`.
      seeds: two are drawn, one for each matrix of weights.
      go_backwards: read from the end; the outputs are in the order of reading.
    """
    of_gates, of_cell = GATES[gates]
    cell = tf_keras.layers.LSTMCell(
        units,
        activation=of_cell,
        recurrent_activation=of_gates,
        # The variance is that of the inputs of one unit: the same for each of the four parts.
        kernel_initializer=tf_keras.initializers.HeNormal(next(seeds)),
        recurrent_initializer=tf_keras.initializers.HeNormal(next(seeds)),
    )
    return tf_keras.layers.RNN(cell, return_sequences=True, go_backwards=go_backwards)

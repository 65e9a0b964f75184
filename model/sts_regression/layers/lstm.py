"""An LSTM whose gates may be ELUs (Prijatelj et al. 2017, section 3.2.2).

    f, i, o = s_g(W x_t + U h_{t-1} + b)      each with weights of its own; s for sigma
    c_t = f ∘ c_{t-1} + i ∘ s_c(W_c x_t + U_c h_{t-1} + b_c)
    h_t = o ∘ s_c(c_t)

Fused kernels have sigmoid and tanh only, and the gradient of a loop over time keeps every tensor
of every step in lists. So both directions are written out here: what does not depend on the step
before, which is most of the arithmetic, is one matrix product over all time steps, and each loop
holds one product. No length is unrolled: one graph serves all of them.
"""

import functools
from collections.abc import Callable, Iterator
from typing import NamedTuple

import tensorflow as tf
import tf_keras


class Activation(NamedTuple):
    """A function, and its derivative as a function of its *output*."""

    function: Callable[[tf.Tensor], tf.Tensor]
    slope: Callable[[tf.Tensor], tf.Tensor]


ELU = Activation(tf.nn.elu, lambda y: tf.minimum(y, 0.0) + 1.0)
ELU_TO_1 = Activation(
    lambda x: tf.minimum(tf.nn.elu(x), 1.0),
    lambda y: tf.where(y < 1.0, tf.minimum(y, 0.0) + 1.0, 0.0),
)
HARD_SIGMOID = Activation(
    lambda x: tf.clip_by_value(0.2 * x + 0.5, 0.0, 1.0),
    lambda y: 0.2 * tf.cast((y > 0) & (y < 1), y.dtype),
)
SIGMOID = Activation(tf.sigmoid, lambda y: y * (1.0 - y))
TANH = Activation(tf.tanh, lambda y: 1.0 - y * y)


class Gates(NamedTuple):
    """s_g, of the three gates, and s_c, of the candidate and of the cell's output."""

    gate: Activation
    cell: Activation


GATES = {
    "printed": Gates(gate=ELU, cell=HARD_SIGMOID),
    "bounded": Gates(gate=ELU_TO_1, cell=HARD_SIGMOID),
    "keras": Gates(gate=HARD_SIGMOID, cell=ELU),
    "elu": Gates(gate=ELU, cell=ELU),
    "standard": Gates(gate=SIGMOID, cell=TANH),
}
"""Section 3.2.2 as printed ("s_g is an ELU function and s_c is the hard sigmoid"); the same with
gates of at most 1, so that outputs stay in [-1, 1] however many words and layers there are; what
`LSTM(activation="elu")` of Keras computed in 2017, which is the same with the two exchanged;
section 3 ("for all components ... ELU activations are used"); and the usual LSTM."""


class Lstm(tf.Module):
    """One LSTM layer."""

    def __init__(
        self,
        input_dim: int,
        units: int,
        *,
        gates: str,
        recurrent_initializer: str,
        seeds: Iterator[int],
        forget_bias: float = 1.0,
    ):
        """`forget_bias`: where b_f starts, 1 as in Keras; the other biases start at 0."""
        super().__init__(name="lstm")
        self._apply = _lstm(gates, input_dim, units)
        start = tf_keras.initializers.HeNormal(next(seeds))
        recurrent = tf_keras.initializers.get(
            {"class_name": recurrent_initializer, "config": {"seed": next(seeds)}}
        )
        # He's normal takes its width from the inputs of one unit, whichever gate it stands in.
        self.kernel = tf.Variable(start([input_dim, 4 * units]), name="kernel")
        self.recurrent = tf.Variable(recurrent([units, 4 * units]), name="recurrent")
        self.bias = tf.Variable(
            tf.concat([tf.zeros(units), tf.fill([units], forget_bias), tf.zeros(2 * units)], 0),
            name="bias",
        )

    def __call__(self, inputs: tf.Tensor, real: tf.Tensor) -> tf.Tensor:
        """Outputs of all steps; a step that is not real repeats the one before it.

        Args:
          inputs: float32 [time, batch, input_dim].
          real: float32 [time, batch, 1], 1 at real words and 0 at padding.

        Returns:
          float32 [time, batch, units]; the last step is the last real one of each row.
        """
        return self._apply(inputs, real, self.kernel, self.recurrent, self.bias)


@functools.cache
def _lstm(name: str, input_dim: int, units: int) -> Callable[..., tf.Tensor]:
    """The layer as a function of its weights, with a gradient of its own.

    Layers of one shape share its graph: ten of them are traced once, and only once in a process.
    """
    gates = GATES[name]
    shapes: list[list[int | None]] = [
        [None, None, input_dim],
        [None, None, 1],
        [input_dim, 4 * units],
        [units, 4 * units],
        [4 * units],
    ]

    @functools.partial(tf.function, input_signature=[tf.TensorSpec(shape) for shape in shapes])
    @tf.custom_gradient
    def apply(
        inputs: tf.Tensor,
        real: tf.Tensor,
        kernel: tf.Tensor,
        recurrent: tf.Tensor,
        bias: tf.Tensor,
    ):
        projected = tf.tensordot(inputs, kernel, 1) + bias
        outputs, cells, activated = _forward(gates, projected, real, recurrent)

        def gradient(upstream: tf.Tensor):
            before = _delayed(outputs)
            factors, through = _factors(gates, activated, cells)
            deltas = _backward(upstream, real, recurrent, activated, factors, through)
            return (
                tf.tensordot(deltas, kernel, [[2], [1]]),
                tf.zeros_like(real),
                tf.tensordot(inputs, deltas, [[0, 1], [0, 1]]),
                tf.tensordot(before, deltas, [[0, 1], [0, 1]]),
                tf.reduce_sum(deltas, [0, 1]),
            )

        return outputs, gradient

    return apply


def _forward(
    gates: Gates, projected: tf.Tensor, real: tf.Tensor, recurrent: tf.Tensor
) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    """[time, batch, 4 units] -> outputs, cells, and activated i, f, o and candidate, by time."""
    time, batch = tf.shape(projected)[0], tf.shape(projected)[1]
    units = recurrent.shape[0]
    zeros = tf.zeros([batch, units])

    def step(t, output, cell, outputs, cells, activated):
        sums = projected[t] + tf.matmul(output, recurrent)
        opened = gates.gate.function(sums[:, : 3 * units])
        candidate = gates.cell.function(sums[:, 3 * units :])
        let_in, keep, let_out = tf.split(opened, 3, axis=1)
        new = keep * cell + let_in * candidate
        is_real = real[t] > 0
        cell = tf.where(is_real, new, cell)
        output = tf.where(is_real, let_out * gates.cell.function(new), output)
        return (
            t + 1,
            output,
            cell,
            outputs.write(t, output),
            cells.write(t, cell),
            activated.write(t, tf.concat([opened, candidate], axis=1)),
        )

    *_, outputs, cells, activated = tf.while_loop(
        lambda t, *_: t < time, step, (0, zeros, zeros, *(_array(time) for _ in range(3)))
    )
    shape = [None, None, units]
    return (
        tf.ensure_shape(outputs.stack(), shape),
        tf.ensure_shape(cells.stack(), shape),
        tf.ensure_shape(activated.stack(), [None, None, 4 * units]),
    )


def _factors(gates: Gates, activated: tf.Tensor, cells: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """What the error of a step is multiplied by, of all steps at once.

    Returns:
      [time, batch, 4 units]: to the sums before i, f, o and the candidate, and
      [time, batch, units]: from the output to the cell.
    """
    let_in, keep, let_out, candidate = tf.split(activated, 4, axis=2)
    shown = gates.cell.function(cells)
    slope = gates.gate.slope
    factors = [
        candidate * slope(let_in),
        _delayed(cells) * slope(keep),
        shown * slope(let_out),
        let_in * gates.cell.slope(candidate),
    ]
    return tf.concat(factors, axis=2), let_out * gates.cell.slope(shown)


def _backward(
    upstream: tf.Tensor,
    real: tf.Tensor,
    recurrent: tf.Tensor,
    activated: tf.Tensor,
    factors: tf.Tensor,
    through: tf.Tensor,
) -> tf.Tensor:
    """Errors of the sums before i, f, o and the candidate: float32 [time, batch, 4 units]."""
    time, units = tf.shape(upstream)[0], recurrent.shape[0]
    zeros = tf.zeros_like(upstream[0])
    keep = activated[:, :, units : 2 * units]

    def step(t, output_error, cell_error, deltas):
        output_error += upstream[t]
        is_real = real[t] > 0
        output_now = tf.where(is_real, output_error, 0.0)
        cell_now = tf.where(is_real, cell_error, 0.0) + output_now * through[t]
        delta = factors[t] * tf.concat([cell_now, cell_now, output_now, cell_now], axis=1)
        # What is not real has factors that may be anything; it hands its errors on as they are.
        delta = tf.where(is_real, delta, 0.0)
        return (
            t - 1,
            tf.where(is_real, 0.0, output_error) + tf.matmul(delta, recurrent, transpose_b=True),
            tf.where(is_real, cell_now * keep[t], cell_error),
            deltas.write(t, delta),
        )

    *_, deltas = tf.while_loop(lambda t, *_: t >= 0, step, (time - 1, zeros, zeros, _array(time)))
    return tf.ensure_shape(deltas.stack(), [None, None, 4 * units])


def _delayed(sequence: tf.Tensor) -> tf.Tensor:
    """[time, batch, dim] one step later: zeros first, the last one gone."""
    return tf.pad(sequence[:-1], [[1, 0], [0, 0], [0, 0]])


def _array(time: tf.Tensor) -> tf.TensorArray:
    """One entry a step, of one shape."""
    return tf.TensorArray(tf.float32, size=time)

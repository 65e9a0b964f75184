"""Two sentence embeddings -> a score (Prijatelj et al. 2017, section 3.3)."""

import tensorflow as tf
import tf_keras

from model.sts_regression.layers.embeddings import Embedded, Materials

DISTANCE_MLP = (5, 2, 1)
"""Nodes: 5, then half of the layer before, rounded down; the last is the score (section 3.4)."""
_SMALLEST = 1e-12
"""Squared distances below it count as it: the root has no gradient at 0."""


class Dense(tf.Module):
    """A fully connected layer with ELU, He-normal."""

    def __init__(self, input_dim: int, units: int, *, materials: Materials):
        super().__init__(name="dense")
        start = tf_keras.initializers.HeNormal(next(materials.seeds))
        self._kernel = tf.Variable(start([input_dim, units]), name="kernel")
        self._bias = tf.Variable(tf.zeros(units), name="bias")

    def __call__(self, inputs: tf.Tensor) -> tf.Tensor:
        """[batch, input_dim] -> [batch, units]."""
        return tf.nn.elu(tf.matmul(inputs, self._kernel) + self._bias)


class _Layers(tf.Module):
    """Dense layers, one after the other; the last has one node."""

    def __init__(self, input_dim: int, sizes: tuple[int, ...], *, materials: Materials):
        super().__init__(name="layers")
        inputs = (input_dim, *sizes)
        self._layers = [
            Dense(before, size, materials=materials)
            for before, size in zip(inputs, sizes, strict=False)
        ]

    def __call__(self, values: tf.Tensor) -> tf.Tensor:
        """[batch, input_dim] -> [batch]."""
        for layer in self._layers:
            values = layer(values)
        return values[:, 0]


class Perceptron(tf.Module):
    """Both embeddings, a fully connected layer, one node (section 3.3.1)."""

    def __init__(self, materials: Materials, *, width: int):
        super().__init__(name="perceptron")
        self._layers = _Layers(2 * width, (materials.units, 1), materials=materials)

    def __call__(self, first: Embedded, second: Embedded) -> tf.Tensor:
        """float32 [batch]."""
        return self._layers(tf.concat([first.last, second.last], axis=1))


class LstmComparator(tf.Module):
    """A stack of LSTMs over the two sequences (sections 3.3.2 and 3.3.3)."""

    def __init__(self, materials: Materials, *, width: int, layers: int):
        super().__init__(name="lstm_comparator")
        self._in_time = materials.choices.concatenation == "time"
        inputs = [width if self._in_time else 2 * width] + [materials.units] * (layers - 1)
        self._stack = [materials.lstm(size) for size in inputs]
        hidden = (materials.units,) if materials.choices.comparator_output == "perceptron" else ()
        self._output = _Layers(materials.units, (*hidden, 1), materials=materials)

    def __call__(self, first: Embedded, second: Embedded) -> tf.Tensor:
        """float32 [batch]."""
        if self._in_time:
            sequence = tf.concat([first.sequence, second.sequence], axis=0)
            real = tf.concat([first.real, second.real], axis=0)
        else:
            first, second = _of_one_length(first, second)
            sequence = tf.concat([first.sequence, second.sequence], axis=2)
            real = tf.maximum(first.real, second.real)
        for layer in self._stack:
            sequence = layer(sequence, real)
        return self._output(sequence[-1])


class DistanceComparator(tf.Module):
    """Euclidean distance and a multi-layer perceptron: the L2-LSTM's end (section 3.4)."""

    def __init__(self, materials: Materials, *, width: int):
        del width
        super().__init__(name="distance_comparator")
        self._layers = _Layers(1, DISTANCE_MLP, materials=materials)

    def __call__(self, first: Embedded, second: Embedded) -> tf.Tensor:
        """float32 [batch]."""
        squared = tf.reduce_sum(tf.math.squared_difference(first.last, second.last), axis=1)
        return self._layers(tf.sqrt(tf.maximum(squared, _SMALLEST))[:, tf.newaxis])


def _of_one_length(first: Embedded, second: Embedded) -> tuple[Embedded, Embedded]:
    """The shorter of the two batches goes on with its last output, as padding."""
    time = tf.maximum(tf.shape(first.real)[0], tf.shape(second.real)[0])

    def longer(side: Embedded) -> Embedded:
        more = time - tf.shape(side.real)[0]
        rest = tf.repeat(side.sequence[-1:], more, axis=0)
        return side._replace(
            sequence=tf.concat([side.sequence, rest], axis=0),
            real=tf.pad(side.real, [[0, more], [0, 0], [0, 0]]),
        )

    return longer(first), longer(second)

"""Two sentence embeddings -> a score (Prijatelj et al. 2017, section 3.3).

Each comparator is a function of Keras tensors, `comparator(first, second, materials) -> scores`,
float32 [batch, 1].
"""

from collections.abc import Sequence

import tensorflow as tf

from model.sts_regression.layers.materials import Embedded, Materials

DISTANCE_MLP = (5, 2, 1)
"""Units: 5, then half of the layer before, rounded down; the last is the score (section 3.4)."""
_SMALLEST = 1e-12
"""Smaller squared distances count as this: the square root has no gradient at 0."""


def perceptron(first: Embedded, second: Embedded, materials: Materials) -> tf.Tensor:
    """Both embeddings, a fully connected layer, one unit (section 3.3.1)."""
    return _dense(tf.concat([first.last, second.last], axis=1), (materials.units, 1), materials)


def lstm_comparator(
    first: Embedded, second: Embedded, materials: Materials, *, layers: int
) -> tf.Tensor:
    """A stack of LSTMs over both sequences side by side, then a perceptron (section 3.3).

    The shorter sentence repeats its last output until the longer one ends.
    """
    sequence = tf.concat([first.sequence, second.sequence], axis=2)
    mask = tf.logical_or(first.mask, second.mask)
    for _ in range(layers):
        sequence = materials.lstm()(sequence, mask=mask)
    return _dense(sequence[:, -1], (materials.units, 1), materials)


def distance(first: Embedded, second: Embedded, materials: Materials) -> tf.Tensor:
    """Euclidean distance and a multi-layer perceptron, as the L2-LSTM ends (section 3.4)."""
    squared = tf.reduce_sum(
        tf.math.squared_difference(first.last, second.last), axis=1, keepdims=True
    )
    return _dense(tf.sqrt(tf.maximum(squared, _SMALLEST)), DISTANCE_MLP, materials)


def _dense(values: tf.Tensor, sizes: Sequence[int], materials: Materials) -> tf.Tensor:
    """[batch, dim] through fully connected layers of these sizes."""
    for size in sizes:
        values = materials.dense(size)(values)
    return values

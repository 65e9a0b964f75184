"""Word dropout, and the random state of all dropout layers for checkpoints.

A resumed run must be bit-identical to one that was never interrupted, so checkpoints hold the
state of the random generators. `random_state` collects it for an encoder.
"""

from typing import Any

import tensorflow as tf
import tf_keras
from tf_keras.__internal__.layers import BaseRandomLayer

from model.text import PADDING

# Otherwise Keras draws with stateful operations, whose state cannot be saved. A layer chooses its
# generator when it is made.
tf_keras.backend.experimental.enable_tf_random_generator()


def random_state(layer: tf_keras.layers.Layer) -> list[tf.__internal__.tracking.AutoTrackable]:
    """The generators of all random layers inside `layer`, whose variables must exist by now.

    Keras leaves them out of checkpoints. As an attribute of a layer they are in its checkpoints,
    but not among its weights.
    """
    random = (part for part in layer.submodules if isinstance(part, BaseRandomLayer))
    return [part._random_generator for part in random]


class IdDropout(BaseRandomLayer):
    """Replaces a part of the ids, `rate`, by `PADDING` in training, never the last of a row."""

    def __init__(self, rate: float, **kwargs: Any):
        super().__init__(**kwargs)
        self.rate = rate

    def call(self, ids: tf.Tensor, training: bool | tf.Tensor = False) -> tf.Tensor:
        """int32 [batch, tokens] -> the same shape; every row keeps its end mark."""
        if not self.rate or training is False:
            return ids
        if training is True:
            return self._dropped(ids)
        # A tensor: no row is drawn for if it is False. A `tf.cond` would do as well, but
        # TensorFlow's optimizer warns of those that hold a random state.
        rows = tf.where(training, tf.shape(ids)[0], 0)
        return tf.concat([self._dropped(ids[:rows]), ids[rows:]], axis=0)

    def _dropped(self, ids: tf.Tensor) -> tf.Tensor:
        following = tf.pad(ids[:, 1:], [[0, 0], [0, 1]], constant_values=PADDING)
        drawn = self._random_generator.random_uniform(tf.shape(ids))
        return tf.where((drawn < self.rate) & (following != PADDING), PADDING, ids)

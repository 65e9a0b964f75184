"""Figure 1 of Prijatelj et al. 2017: words of two sentences -> a score."""

from collections.abc import Iterator, Sequence

import numpy as np
import tensorflow as tf
import tf_keras

from model.sts_regression.data.vectors import PADDING
from model.sts_regression.layers.materials import Experiment, Materials, Words
from model.sts_regression.options import HIGHEST
from model.sts_regression.settings import MASKED, Settings


def build(
    experiment: Experiment,
    settings: Settings,
    *,
    table: np.ndarray,
    training: Sequence[Sequence[int]],
    seed: int,
) -> tf_keras.Model:
    """A regressor with initial weights: word vectors, an embedding of each sentence, a comparator.

    Each sentence has an encoder of its own ("A single LSTM per sentence", "two stacks of LSTMs").

    Args:
      experiment: embedding and comparator.
      settings: everything else.
      table: float32 [words, dim], the word vectors, which are not trained.
      training: rows of the table for each training sentence; SIF is fitted to them.
      seed: of the weights.

    Returns:
      A model of two inputs, int32 [batch, time], `PADDING` after the last word -> float32
      [batch, 1], any number.
    """
    materials = Materials(settings, settings.units or table.shape[1], table, training, _seeds(seed))
    is_masked = settings.padding == MASKED
    first, second = (
        tf_keras.Input([None], dtype=tf.int32, name=name) for name in ("first", "second")
    )
    time = tf.maximum(tf.shape(first)[1], tf.shape(second)[1])
    if not is_masked:
        time = tf.maximum(time, max(map(len, training)))
    vectors = tf_keras.layers.Embedding(*table.shape, trainable=False)
    embedded = []
    for side in (first, second):
        ids = tf.pad(side, [[0, 0], [0, time - tf.shape(side)[1]]])
        if not is_masked:
            lengths = tf.math.count_nonzero(ids != PADDING, axis=1, keepdims=True, dtype=tf.int32)
            ids = tf.gather(ids, (tf.range(time) + lengths) % time, batch_dims=1)
        mask = tf.not_equal(ids, PADDING) if is_masked else tf.ones_like(ids, tf.bool)
        embedded.append(experiment.embedding(Words(ids, vectors(ids), mask), materials))
    vectors.set_weights([table])
    return tf_keras.Model([first, second], experiment.comparator(*embedded, materials))


def scorer(regressor: tf_keras.Model) -> tf_keras.Model:
    """The same model with scores in [0, 5]: int32 [batch, time] twice -> float32 [batch].

    Numbers outside are clipped, but infinity and NaN stay: they tell that the model has diverged.
    """
    scores = regressor.output[:, 0]
    clipped = tf.where(tf.math.is_finite(scores), tf.clip_by_value(scores, 0.0, HIGHEST), scores)
    return tf_keras.Model(regressor.inputs, clipped)


def _seeds(seed: int) -> Iterator[int]:
    """A different one for each matrix of weights."""
    numbers = np.random.default_rng(seed)
    while True:
        yield int(numbers.integers(2**31))

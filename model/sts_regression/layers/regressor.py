"""Figure 1 of Prijatelj et al. 2017: words of two sentences -> a score."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import tensorflow as tf
import tf_keras

from model.sts_regression.choices import Choices
from model.sts_regression.data.pairs import HIGHEST
from model.sts_regression.data.vectors import PADDING
from model.sts_regression.layers.materials import Embedded, Experiment, Materials, Words


def build(
    experiment: Experiment,
    choices: Choices,
    *,
    table: np.ndarray,
    training: Sequence[Sequence[int]],
    seed: int,
) -> tf_keras.Model:
    """A regressor with initial weights: word vectors, an embedding of each sentence, a comparator.

    Args:
      experiment: embedding and comparator.
      choices: everything else.
      table: float32 [words, dim], the word vectors.
      training: rows of the table for each training sentence; SIF is fitted to them.
      seed: of the weights.

    Returns:
      A model of two inputs, int32 [batch, time], `PADDING` after the last word -> float32
      [batch, 1], any number.
    """
    materials = Materials(choices, choices.units or table.shape[1], table, training, _seeds(seed))
    first, second = (
        tf_keras.Input([None], dtype=tf.int32, name=name) for name in ("first", "second")
    )
    time = tf.maximum(tf.shape(first)[1], tf.shape(second)[1])
    if choices.padding != "masked":
        time = tf.maximum(time, max(map(len, training)))
    ids = [_padded(side, time, choices.padding) for side in (first, second)]
    vectors = tf_keras.layers.Embedding(*table.shape, trainable=choices.train_vectors)
    encoders = [
        _encoder(experiment.embedding, materials)
        for _ in range(2 if choices.encoders == "two" else 1)
    ]
    embedded = [
        Embedded(*encoder([side, vectors(side)]))
        for encoder, side in zip((encoders[0], encoders[-1]), ids, strict=True)
    ]
    vectors.set_weights([table])
    return tf_keras.Model([first, second], experiment.comparator(*embedded, materials))


def scorer(regressor: tf_keras.Model) -> tf_keras.Model:
    """The same model with scores in [0, 5]: int32 [batch, time] twice -> float32 [batch].

    Numbers outside are clipped, but infinity and NaN stay: they tell that the model has diverged.
    """
    scores = regressor.output[:, 0]
    clipped = tf.where(tf.math.is_finite(scores), tf.clip_by_value(scores, 0.0, HIGHEST), scores)
    return tf_keras.Model(regressor.inputs, clipped)


def _encoder(embedding: Callable[..., Embedded], materials: Materials) -> tf_keras.Model:
    """Ids and word vectors -> the fields of `Embedded`; calls of it share its weights."""
    ids = tf_keras.Input([None], dtype=tf.int32)
    vectors = tf_keras.Input([None, materials.table.shape[1]])
    real = tf.not_equal(ids, PADDING)
    mask = real if materials.choices.padding == "masked" else tf.ones_like(real)
    words = Words(ids, vectors, mask)
    return tf_keras.Model([ids, vectors], list(embedding(words, materials)))


def _padded(ids: tf.Tensor, time: tf.Tensor, where: str) -> tf.Tensor:
    """int32 [batch, words] with `PADDING` after the last word -> [batch, time]."""
    ids = tf.pad(ids, [[0, 0], [0, time - tf.shape(ids)[1]]])
    if where != "before":
        return ids
    lengths = tf.math.count_nonzero(ids != PADDING, axis=1, keepdims=True, dtype=tf.int32)
    return tf.gather(ids, (tf.range(time) + lengths) % time, batch_dims=1)


def _seeds(seed: int) -> Iterator[int]:
    """A different one for each matrix of weights."""
    numbers = np.random.default_rng(seed)
    while True:
        yield int(numbers.integers(2**31))

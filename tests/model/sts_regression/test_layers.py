"""Embeddings, comparators and whole regressors, by hand."""

import itertools

import numpy as np
import pytest
import tensorflow as tf
import tf_keras

from model.sts_regression.experiments import TABLE_2
from model.sts_regression.layers import regressor
from model.sts_regression.layers.comparators import (
    DISTANCE_MLP,
    distance,
    lstm_comparator,
    perceptron,
)
from model.sts_regression.layers.embeddings import Sif, bidirectional_lstm, lstm_stack, sif_weights
from model.sts_regression.layers.materials import Embedded, Materials, Words
from model.sts_regression.settings import Settings

TABLE = np.array([[0, 0], [0, 0], [1, 0], [0, 1], [1, 1]], np.float32)
TRAINING = [[2, 3], [2, 2], [3]]
FEW = ("lstm1_perceptron", "l2_lstm_50", "sif_perceptron")
"""A row of each kind of network."""


def materials(units=3):
    return Materials(Settings(), units, TABLE, TRAINING, itertools.count(1))


def padded(*rows):
    return tf.ragged.constant(rows, tf.int32).to_tensor(0)


def words(*rows):
    ids = padded(*rows)
    return Words(ids, tf.gather(TABLE, ids), ids != 0)


def test_sif_weights_by_hand():
    # Of 5 words, row 2 is 3 and row 3 is 2; row 4 does not train.
    found = sif_weights(TRAINING, rows=5, a=0.1)
    np.testing.assert_allclose(found, [0, 1, 0.1 / 0.7, 0.1 / 0.5, 1], rtol=1e-6)


def test_sif_takes_the_first_component_away():
    # Both sentences lie along (1, 0): that is the component, and what is left is orthogonal.
    layer = Sif([[2], [2, 2]], TABLE, a=0.5)
    some = words([4], [2, 3], [2])
    # Row 2 has p = 1 and weighs 1/3, rows 3 and 4 weigh 1.
    found = layer(some.ids, some.vectors)
    np.testing.assert_allclose(found, [[0, 1], [0, 0.5], [0, 0]], atol=1e-6)
    assert not layer.trainable_variables


def test_a_stack_feeds_each_lstm_with_the_one_before():
    ids = tf_keras.Input([None], dtype=tf.int32)
    vectors = tf_keras.layers.Embedding(*TABLE.shape, trainable=False)
    found = lstm_stack(Words(ids, vectors(ids), ids != 0), materials(), layers=2)
    stack = tf_keras.Model(ids, list(found))
    assert len(stack.trainable_variables) == 6
    found = Embedded(*stack(padded([2, 3, 4], [2])))
    assert found.sequence.shape == (2, 3, 3)
    np.testing.assert_array_equal(found.last, found.sequence[:, -1])


def test_both_ends_are_read():
    def both(*rows):
        return bidirectional_lstm(words(*rows), materials())  # the same seeds: the same weights

    long, short = both([2, 3, 4], [3, 2]), both([3, 2])
    np.testing.assert_allclose(long.last[1], short.last[0], rtol=1e-5)  # padding changes nothing
    assert not np.allclose(both([2, 3]).last, short.last)
    forward, backward = long.sequence[:, :, :3], long.sequence[:, :, 3:]
    np.testing.assert_array_equal(long.last, tf.concat([forward[:, -1], backward[:, 0]], axis=1))


def model_of(comparator, *, width, units=3):
    """A comparator of two embeddings, each a sequence of one step, as a model; its kernels."""
    inputs = [tf_keras.Input([width]) for _ in range(2)]
    sides = [Embedded(x, x[:, tf.newaxis], tf.ones_like(x[:, :1], tf.bool)) for x in inputs]
    made = tf_keras.Model(inputs, comparator(*sides, materials(units)))
    weights = [v for v in made.trainable_variables if "dense" in v.name and len(v.shape) == 2]
    return made, weights


def test_a_layer_is_an_elu_of_a_weighted_sum_and_starts_he_normal():
    layer = materials().dense(2)
    layer.build((None, 2))
    layer.set_weights([np.array([[1, 2], [3, 4]]), np.array([0.5, -20])])
    # 1 + 3 + 0.5 = 4.5 stays; 2 + 4 - 20 = -14 becomes exp(-14) - 1.
    np.testing.assert_allclose(layer(tf.ones([1, 2])), [[4.5, np.exp(-14) - 1]], rtol=1e-6)
    layer = materials().dense(50)
    layer.build((None, 400))
    assert np.std(layer.get_weights()[0]) == pytest.approx((2 / 400) ** 0.5, rel=0.05)


def test_the_distance_is_euclidean_and_the_layers_halve():
    compare, kernels = model_of(distance, width=2)
    assert DISTANCE_MLP == (5, 2, 1)
    assert [tuple(kernel.shape) for kernel in kernels] == [(1, 5), (5, 2), (2, 1)]
    for kernel in kernels:
        kernel.assign(tf.ones_like(kernel))
    # (3, 4) apart is 5, not 7; through ones it is counted 5 times, then twice.
    first = tf.constant([[1.0, 1.0], [0.0, 0.0]])
    with tf.GradientTape() as tape:
        tape.watch(first)
        found = compare([first, tf.constant([[4.0, 5.0], [0.0, 0.0]])])
    np.testing.assert_allclose(found, [[50.0], [1e-5]], rtol=1e-5)
    assert np.isfinite(tape.gradient(found, first)).all()


def test_a_perceptron_sees_both_sides():
    compare, (hidden, last) = model_of(perceptron, width=2, units=3)
    hidden.assign([[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 1]])
    last.assign([[1], [10], [100]])
    found = compare([tf.constant([[1.0, 2.0]]), tf.constant([[3.0, 4.0]])])
    np.testing.assert_allclose(found, [[1 + 20 + 700]])


def embedded(*lengths, width=4):
    time = max(lengths)
    mask = np.arange(time) < np.array(lengths)[:, None]
    sequence = np.random.default_rng(time).normal(size=(len(lengths), time, width))
    for row, length in enumerate(lengths):
        sequence[row, length:] = sequence[row, length - 1]
    values = tf.constant(sequence, tf.float32)
    return Embedded(values[:, -1], values, tf.constant(mask))


def test_an_lstm_compares_sequences_of_different_lengths():
    first, second = embedded(3, 1, 5), embedded(5, 2, 4)
    both = lstm_comparator(first, second, materials(), layers=2)
    for row, length in enumerate((5, 2, 5)):
        sides = [
            Embedded(side.last[row : row + 1], *(x[row : row + 1, :length] for x in side[1:]))
            for side in (first, second)
        ]
        alone = lstm_comparator(*sides, materials(), layers=2)
        np.testing.assert_allclose(alone[0], both[row], rtol=1e-5)


def built(row, *, table=TABLE, training=TRAINING, **settings):
    settings = Settings(units=3, **settings)
    return regressor.build(TABLE_2[row], settings, table=table, training=training, seed=1)


@pytest.mark.parametrize(
    "row",
    [pytest.param(row, marks=[] if row in FEW else [pytest.mark.slow]) for row in TABLE_2],
)
def test_padding_does_not_change_a_score(row):
    made = built(row)
    sides = [padded([2, 3, 4], [3]), padded([2], [4, 2])]
    longer = [padded([2, 3, 4, 0], [3]), padded([2], [4, 2, 0, 0, 0])]
    np.testing.assert_allclose(made(sides), made(longer), rtol=1e-5)
    alone = [side[1:2, :length] for side, length in zip(sides, (1, 2), strict=True)]
    np.testing.assert_allclose(made(alone)[0], made(sides)[1], rtol=1e-5)


@pytest.mark.slow
def test_padding_before_the_words_is_read_like_words():
    training = [[2, 3, 4, 2], [3]]  # the longest has four words
    made = built("lstm1_perceptron", training=training, padding="before")
    # Row 5 is a word that has the vector of padding.
    table = np.concatenate([TABLE, TABLE[:1]])
    masked = built("lstm1_perceptron", training=training, table=table)
    masked.set_weights([masked.get_weights()[0], *made.get_weights()[1:]])
    sides = [padded([4, 2]), padded([2, 3, 4, 3])]
    np.testing.assert_allclose(made(sides), masked([padded([5, 5, 4, 2]), sides[1]]), rtol=1e-5)

"""Comparators and the optimizer, by hand."""

import itertools

import numpy as np
import pytest
import tensorflow as tf
import tf_keras

from model.sts_regression.choices import Choices
from model.sts_regression.experiments import TABLE_2
from model.sts_regression.layers import regressor
from model.sts_regression.layers.comparators import (
    DISTANCE_MLP,
    distance,
    lstm_comparator,
    perceptron,
)
from model.sts_regression.layers.materials import Embedded, Materials
from model.sts_regression.training import training
from tests.model.sts_regression.test_training import TABLE, data


def materials(*, units=4, **options):
    return Materials(Choices(**options), units, TABLE, [], itertools.count(7))


def side(*rows):
    last = tf.constant(rows, tf.float32)
    return Embedded(last, last[:, tf.newaxis], tf.ones([len(rows), 1], tf.bool))


def model_of(comparator, *, width, **options):
    """A comparator of two embeddings, each a sequence of one step, as a model."""
    inputs = [tf_keras.Input([width]) for _ in range(2)]
    sides = [Embedded(x, x[:, tf.newaxis], tf.ones_like(x[:, :1], tf.bool)) for x in inputs]
    return tf_keras.Model(inputs, comparator(*sides, **options))


def kernels(model):
    return [v for v in model.trainable_variables if "dense" in v.name and len(v.shape) == 2]


def test_a_layer_is_an_elu_of_a_weighted_sum():
    layer = materials().dense(2)
    layer.build((None, 2))
    layer.set_weights([np.array([[1, 2], [3, 4]]), np.array([0.5, -20])])
    # 1 + 3 + 0.5 = 4.5 stays; 2 + 4 - 20 = -14 becomes exp(-14) - 1.
    np.testing.assert_allclose(layer(tf.ones([1, 2])), [[4.5, np.exp(-14) - 1]], rtol=1e-6)


def test_a_layer_starts_he_normal():
    layer = materials().dense(50)
    layer.build((None, 400))
    kernel, bias = layer.get_weights()
    assert np.std(kernel) == pytest.approx((2 / 400) ** 0.5, rel=0.05)
    assert not bias.any()


def test_the_distance_is_euclidean_and_the_layers_halve():
    compare = model_of(distance, width=2, materials=materials())
    assert DISTANCE_MLP == (5, 2, 1)
    assert [tuple(kernel.shape) for kernel in kernels(compare)] == [(1, 5), (5, 2), (2, 1)]
    for kernel in kernels(compare):
        kernel.assign(tf.ones_like(kernel))
    # (3, 4) apart is 5, not 7; through ones it is counted 5 times, then twice.
    found = compare([tf.constant([[1.0, 1.0], [0.0, 0.0]]), tf.constant([[4.0, 5.0], [0.0, 0.0]])])
    np.testing.assert_allclose(found, [[50.0], [1e-5]], rtol=1e-5)


def test_a_perceptron_sees_both_sides():
    compare = model_of(perceptron, width=2, materials=materials(units=3))
    hidden, last = kernels(compare)
    assert (tuple(hidden.shape), tuple(last.shape)) == ((4, 3), (3, 1))
    hidden.assign([[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 1]])
    last.assign([[1], [10], [100]])
    found = compare([tf.constant([[1.0, 2.0]]), tf.constant([[3.0, 4.0]])])
    np.testing.assert_allclose(found, [[1 + 20 + 700]])


@pytest.mark.parametrize(
    ("output", "sizes"), [("perceptron", [(4, 4), (4, 1)]), ("node", [(4, 1)])]
)
def test_what_turns_a_state_into_a_score(output, sizes):
    compare = model_of(
        lstm_comparator, width=2, materials=materials(comparator_output=output), layers=2
    )
    assert [tuple(kernel.shape) for kernel in kernels(compare)] == sizes
    assert sum(isinstance(layer, tf_keras.layers.RNN) for layer in compare.layers) == 2


@pytest.mark.parametrize(("how", "input_dim"), [("features", 12), ("time", 6)])
def test_sequences_are_compared_beside_each_other_or_one_after_the_other(how, input_dim):
    compare = model_of(lstm_comparator, width=6, materials=materials(concatenation=how), layers=1)
    (lstm,) = (layer for layer in compare.layers if isinstance(layer, tf_keras.layers.RNN))
    assert lstm.cell.kernel.shape[0] == input_dim


def built(choices):
    return regressor.build(
        TABLE_2["sif_perceptron"], choices, table=TABLE, training=data().sentences(), seed=0
    )


def test_the_first_step_of_rmsprop_is_the_rate_over_the_root_of_what_is_not_forgotten():
    """RMSprop divides by sqrt((1 - 0.9) g^2): weights move by rate / sqrt(0.1)."""
    choices = Choices(batch=24, learning_rate=1e-3)
    made = built(choices)
    weight = made.trainable_variables[-1]
    before = weight.numpy()
    training.train(made, data(), choices, epochs=1, seed=0)  # one batch
    # Those of small gradients by less, for the epsilon beside the root.
    assert np.abs(weight.numpy() - before).max() == pytest.approx(1e-3 / 0.1**0.5, rel=1e-2)


def test_a_clipped_step_has_a_smaller_gradient_not_a_smaller_loss():
    losses = {}
    for clip in (0.0, 1e-9):
        choices = Choices(batch=8, clip_norm=clip, learning_rate=1e-2)
        losses[clip] = training.train(built(choices), data(), choices, epochs=2, seed=0)
    assert losses[0.0][0] > losses[0.0][-1]
    # Gradients far below RMSprop's epsilon move next to nothing.
    assert losses[1e-9][-1] == pytest.approx(losses[1e-9][0], rel=0.05)

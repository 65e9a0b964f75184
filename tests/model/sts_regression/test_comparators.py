"""Comparators and the optimizer, by hand."""

import itertools

import numpy as np
import pytest
import tensorflow as tf

from model.sts_regression.choices import Choices
from model.sts_regression.experiments import TABLE_2
from model.sts_regression.layers.comparators import (
    DISTANCE_MLP,
    Dense,
    DistanceComparator,
    LstmComparator,
    Perceptron,
)
from model.sts_regression.layers.embeddings import Embedded, Materials
from model.sts_regression.training import training
from tests.model.sts_regression.test_training import TABLE, data


def materials(*, units=4, **options):
    return Materials(Choices(**options), units, TABLE, [], itertools.count(7))


def side(*rows):
    last = tf.constant(rows, tf.float32)
    return Embedded(last, last[tf.newaxis], tf.ones([1, len(rows), 1]))


def test_a_layer_is_an_elu_of_a_weighted_sum():
    layer = Dense(2, 2, materials=materials())
    layer._kernel.assign([[1, 2], [3, 4]])
    layer._bias.assign([0.5, -20])
    # 1 + 3 + 0.5 = 4.5 stays; 2 + 4 - 20 = -14 becomes exp(-14) - 1.
    np.testing.assert_allclose(layer(tf.ones([1, 2])), [[4.5, np.exp(-14) - 1]], rtol=1e-6)


def test_a_layer_starts_he_normal():
    layer = Dense(400, 50, materials=materials())
    assert np.std(layer._kernel) == pytest.approx((2 / 400) ** 0.5, rel=0.05)
    assert not layer._bias.numpy().any()


def test_the_distance_is_euclidean_and_the_layers_halve():
    compare = DistanceComparator(materials(), width=2)
    sizes = [tuple(layer._kernel.shape) for layer in compare._layers._layers]
    assert DISTANCE_MLP == (5, 2, 1)
    assert sizes == [(1, 5), (5, 2), (2, 1)]
    for layer in compare._layers._layers:
        layer._kernel.assign(tf.ones_like(layer._kernel))
    # (3, 4) apart is 5, not 7; through ones it is counted 5 times, then twice.
    found = compare(side([1.0, 1.0], [0.0, 0.0]), side([4.0, 5.0], [0.0, 0.0]))
    np.testing.assert_allclose(found, [50.0, 1e-5], rtol=1e-5)


def test_a_perceptron_sees_both_sides():
    compare = Perceptron(materials(units=3), width=2)
    sizes = [tuple(layer._kernel.shape) for layer in compare._layers._layers]
    assert sizes == [(4, 3), (3, 1)]
    hidden, last = compare._layers._layers
    hidden._kernel.assign([[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 1]])
    last._kernel.assign([[1], [10], [100]])
    found = compare(side([1.0, 2.0]), side([3.0, 4.0]))
    np.testing.assert_allclose(found, [1 + 20 + 700])


@pytest.mark.parametrize(
    ("output", "sizes"), [("perceptron", [(4, 4), (4, 1)]), ("node", [(4, 1)])]
)
def test_what_turns_a_state_into_a_score(output, sizes):
    compare = LstmComparator(materials(comparator_output=output), width=2, layers=2)
    assert [tuple(layer._kernel.shape) for layer in compare._output._layers] == sizes
    assert len(compare._stack) == 2


@pytest.mark.parametrize(("how", "input_dim"), [("features", 12), ("time", 6)])
def test_sequences_are_compared_beside_each_other_or_one_after_the_other(how, input_dim):
    compare = LstmComparator(materials(concatenation=how), width=6, layers=1)
    assert compare._stack[0].kernel.shape[0] == input_dim


def test_the_first_step_of_rmsprop_is_the_rate_over_the_root_of_what_is_not_forgotten(monkeypatch):
    """RMSprop divides by sqrt((1 - 0.9) g^2): weights move by rate / sqrt(0.1)."""
    steps = []
    make = training._step

    def spied(regressor, choices):
        step = make(regressor, choices)
        weight = regressor.trainable_variables[-1]

        def counted(*batch):
            before = weight.numpy()
            loss = step(*batch)
            steps.append(np.abs(weight.numpy() - before))
            return loss

        return counted

    monkeypatch.setattr(training, "_step", spied)
    choices = Choices(epoch_share=0.01, batch=24, learning_rate=1e-3)
    training.train(TABLE_2["sif_perceptron"], choices, data(), table=TABLE, seed=0)
    # Those of small gradients by less, for the epsilon beside the root.
    assert steps[0].max() == pytest.approx(1e-3 / 0.1**0.5, rel=1e-2)


def test_a_clipped_step_has_a_smaller_gradient_not_a_smaller_loss():
    losses = {
        clip: training.train(
            TABLE_2["sif_perceptron"],
            Choices(epoch_share=0.02, batch=8, clip_norm=clip, learning_rate=1e-2),
            data(),
            table=TABLE,
            seed=0,
        )[1]
        for clip in (0.0, 1e-9)
    }
    assert losses[0.0][0] > losses[0.0][-1]
    # Gradients far below RMSprop's epsilon move next to nothing.
    assert losses[1e-9][-1] == pytest.approx(losses[1e-9][0], rel=0.05)

import itertools

import numpy as np
import pytest
import tensorflow as tf

from model.sts_regression.layers.lstm import GATES, elu_to_1, lstm

TIME, BATCH, DIM, UNITS = 5, 3, 4, 2
LENGTHS = (5, 3, 1)
FUNCTIONS = {
    "elu": tf.nn.elu,
    elu_to_1: lambda x: tf.minimum(tf.nn.elu(x), 1.0),
    "hard_sigmoid": lambda x: tf.clip_by_value(0.2 * x + 0.5, 0.0, 1.0),
}


def made(gates, *, dim=DIM, units=UNITS, seeds=None):
    layer = lstm(units, gates=gates, seeds=seeds or itertools.count(3))
    layer.build((None, None, dim))
    return layer


def batch():
    inputs = np.random.default_rng(0).normal(size=(TIME, BATCH, DIM)).astype(np.float32)
    mask = np.arange(TIME)[None, :] < np.array(LENGTHS)[:, None]
    return tf.Variable(inputs.transpose(1, 0, 2)), tf.constant(mask)


def written_out(layer, gates, inputs, mask):
    """The equations of section 3.2.2, step by step; TensorFlow finds the gradient."""
    gate, cell_function = (FUNCTIONS[name] for name in GATES[gates])
    kernel, recurrent, bias = layer.trainable_variables
    output = cell = tf.zeros([BATCH, UNITS])
    outputs = []
    for t in range(TIME):
        sums = inputs[:, t] @ kernel + output @ recurrent + bias
        let_in, keep, candidate, let_out = tf.split(sums, 4, axis=1)
        new = gate(keep) * cell + gate(let_in) * cell_function(candidate)
        shown = gate(let_out) * cell_function(new)
        output = tf.where(mask[:, t : t + 1], shown, output)
        cell = tf.where(mask[:, t : t + 1], new, cell)
        outputs.append(output)
    return tf.stack(outputs, axis=1)


@pytest.mark.parametrize("gates", GATES)
def test_outputs_and_gradients_are_those_of_the_equations(gates):
    layer = made(gates)
    inputs, mask = batch()
    weights = np.random.default_rng(1).normal(size=(BATCH, TIME, UNITS)).astype(np.float32)
    sources = [inputs, *layer.trainable_variables]

    @tf.function
    def with_gradients(apply):
        with tf.GradientTape() as tape:
            outputs = apply()
            total = tf.reduce_sum(outputs * weights)
        return outputs, *tape.gradient(total, sources)

    ours = with_gradients(lambda: layer(inputs, mask=mask))
    theirs = with_gradients(lambda: written_out(layer, gates, inputs, mask))
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)


def test_one_step_of_the_printed_gates_by_hand():
    layer = made("printed", dim=1, units=1)
    # i = elu(0.5) = 0.5, o = elu(1) = 1; candidate = 0.2 * 0.5 + 0.5 = 0.6; c = 0.3
    # h = o * (0.2 * 0.3 + 0.5) = 0.56
    weights = [[1.0, 1.0, 1.0, 2.0]], [[0.0] * 4], [0.0] * 4  # i, f, candidate, o
    layer.set_weights([np.array(each) for each in weights])
    np.testing.assert_allclose(layer(tf.constant([[[0.5]]])), [[[0.56]]])


def test_bounded_gates_stay_bounded_where_the_printed_ones_explode():
    loud = tf.fill([1, 200, 1], 9.0)
    outputs = {}
    for gates in ("printed", "bounded"):
        layer = made(gates, dim=1, units=1)
        weights = [[1.0] * 4], [[3.0] * 4], [0.0, 1.0, 0.0, 0.0]
        layer.set_weights([np.array(each) for each in weights])
        outputs[gates] = layer(loud)
    assert not np.isfinite(outputs["printed"]).all()
    assert np.abs(outputs["bounded"]).max() <= 1.0


def test_padding_changes_nothing_and_repeats_the_last_output():
    layer = made("printed")
    inputs, mask = batch()
    whole = layer(inputs, mask=mask)
    for row, length in enumerate(LENGTHS):
        alone = layer(inputs[row : row + 1, :length], mask=mask[row : row + 1, :length])
        np.testing.assert_allclose(whole[row, :length], alone[0], rtol=1e-5)
        np.testing.assert_allclose(whole[row, -1], alone[0, -1], rtol=1e-5)


def test_weights_start_he_normal():
    layer = made("printed", dim=200, units=100, seeds=iter((1, 2)))
    kernel, recurrent, bias = layer.get_weights()
    assert np.std(kernel) == pytest.approx((2 / 200) ** 0.5, rel=0.05)
    assert np.std(recurrent) == pytest.approx((2 / 100) ** 0.5, rel=0.05)
    assert np.unique(bias[100:200]) == [1.0]
    assert bias.sum() == 100

import itertools

import numpy as np
import pytest
import tensorflow as tf
import tf_keras

from model.sts_regression.layers.lstm import GATES, Lstm

TIME, BATCH, DIM, UNITS = 5, 3, 4, 2
LENGTHS = (5, 3, 1)


def lstm(gates, **options):
    weights = {"recurrent_initializer": "HeNormal", "seeds": itertools.count(3)} | options
    return Lstm(DIM, UNITS, gates=gates, **weights)


def batch():
    inputs = np.random.default_rng(0).normal(size=(TIME, BATCH, DIM)).astype(np.float32)
    real = np.arange(TIME)[:, None] < np.array(LENGTHS)[None, :]
    return tf.Variable(inputs), tf.constant(real[..., None].astype(np.float32))


def written_out(layer, gates, inputs, real):
    """The equations of section 3.2.2, step by step; TensorFlow finds the gradient."""
    gate, cell_function = (each.function for each in GATES[gates])
    output = cell = tf.zeros([BATCH, UNITS])
    outputs = []
    for t in range(TIME):
        sums = inputs[t] @ layer.kernel + output @ layer.recurrent + layer.bias
        let_in, keep, let_out, candidate = tf.split(sums, 4, axis=1)
        new = gate(keep) * cell + gate(let_in) * cell_function(candidate)
        shown = gate(let_out) * cell_function(new)
        output = real[t] * shown + (1 - real[t]) * output
        cell = real[t] * new + (1 - real[t]) * cell
        outputs.append(output)
    return tf.stack(outputs)


@pytest.mark.parametrize("gates", ["printed", "bounded", "keras", "elu", "standard"])
def test_outputs_and_gradients_are_those_of_the_equations(gates):
    layer = lstm(gates)
    inputs, real = batch()
    weights = np.random.default_rng(1).normal(size=(TIME, BATCH, UNITS)).astype(np.float32)
    sources = [inputs, layer.kernel, layer.recurrent, layer.bias]

    @tf.function
    def with_gradients(apply):
        with tf.GradientTape() as tape:
            outputs = apply()
            total = tf.reduce_sum(outputs * weights)
        return outputs, *tape.gradient(total, sources)

    ours = with_gradients(lambda: layer(inputs, real))
    theirs = with_gradients(lambda: written_out(layer, gates, inputs, real))
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)


def test_one_step_of_the_printed_gates_by_hand():
    layer = Lstm(1, 1, gates="printed", recurrent_initializer="HeNormal", seeds=itertools.count())
    layer.kernel.assign([[1.0, 1.0, 2.0, 1.0]])  # i, f, o, candidate
    layer.bias.assign([0.0, 0.0, 0.0, 0.0])
    # i = elu(0.5) = 0.5, o = elu(1) = 1; candidate = 0.2 * 0.5 + 0.5 = 0.6; c = 0.3
    # h = o * (0.2 * 0.3 + 0.5) = 0.56
    np.testing.assert_allclose(layer(tf.constant([[[0.5]]]), tf.ones([1, 1, 1])), [[[0.56]]])


def test_bounded_gates_stay_bounded_where_the_printed_ones_explode():
    loud = tf.fill([200, 1, 1], 9.0)
    outputs = {}
    for gates in ("printed", "bounded"):
        layer = Lstm(1, 1, gates=gates, recurrent_initializer="HeNormal", seeds=itertools.count())
        layer.kernel.assign([[1.0, 1.0, 1.0, 1.0]])
        layer.recurrent.assign([[3.0, 3.0, 3.0, 3.0]])
        outputs[gates] = layer(loud, tf.ones([200, 1, 1]))
    assert not np.isfinite(outputs["printed"]).all()
    assert np.abs(outputs["bounded"]).max() <= 1.0


def test_the_usual_lstm_is_that_of_keras():
    layer = lstm("standard")
    inputs, real = batch()
    theirs = tf_keras.layers.LSTM(UNITS, return_sequences=True)
    theirs.build((BATCH, TIME, DIM))
    i, f, o, c = range(4)  # Keras has the candidate third

    def reordered(weights):
        parts = np.split(weights.numpy(), 4, axis=-1)
        return np.concatenate([parts[k] for k in (i, f, c, o)], axis=-1)

    theirs.set_weights([reordered(w) for w in (layer.kernel, layer.recurrent, layer.bias)])
    mask = tf.transpose(tf.cast(real[..., 0], bool))
    expected = theirs(tf.transpose(inputs, [1, 0, 2]), mask=mask)
    found = tf.transpose(layer(inputs, real), [1, 0, 2])
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_padding_changes_nothing_and_repeats_the_last_output():
    layer = lstm("printed")
    inputs, real = batch()
    whole = layer(inputs, real)
    for row, length in enumerate(LENGTHS):
        alone = layer(inputs[:length, row : row + 1], real[:length, row : row + 1])
        np.testing.assert_allclose(whole[:length, row], alone[:, 0], rtol=1e-5)
        np.testing.assert_allclose(whole[-1, row], alone[-1, 0], rtol=1e-5)


def test_weights_start_he_normal():
    layer = Lstm(200, 100, gates="printed", recurrent_initializer="HeNormal", seeds=iter((1, 2)))
    assert np.std(layer.kernel) == pytest.approx((2 / 200) ** 0.5, rel=0.05)
    assert np.std(layer.recurrent) == pytest.approx((2 / 100) ** 0.5, rel=0.05)
    assert np.unique(layer.bias.numpy()[100:200]) == [1.0]
    assert layer.bias.numpy().sum() == 100

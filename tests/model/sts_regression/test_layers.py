"""LSTMs, embeddings, comparators and whole regressors by hand, and what trains them."""

import numpy as np
import pytest
import tensorflow as tf
import tf_keras

from model.sts_regression import regressor
from model.sts_regression.data import Pairs
from model.sts_regression.layers import Network, Sif
from model.sts_regression.options import TABLE_2, Settings

TABLE = np.array([[0, 0], [0, 0], [1, 0], [0, 1], [1, 1]], np.float32)
TRAINING = [[2, 3], [2, 2], [3]]
FEW = ("lstm1_perceptron", "lstm1_lstm1", "l2_lstm_50", "sif_perceptron")
"""A row of each kind of network."""
TIME, BATCH, DIM, UNITS = 5, 3, 4, 2
LENGTHS = (5, 3, 1)


def network(row="lstm1_perceptron", **settings):
    given = Settings(**{"units": 3} | settings)
    return Network(TABLE_2[row], given, table=TABLE, training=TRAINING, seed=1)


def padded(*rows):
    return tf.ragged.constant(rows, tf.int32).to_tensor(0)


def words(*rows):
    ids = padded(*rows)
    return ids, tf.gather(TABLE, ids)


def lstm(gates, *, dim=DIM, units=UNITS):
    layer = network(units=units, gates=gates).lstm()
    layer.build((None, None, dim))
    return layer


def batch():
    inputs = np.random.default_rng(0).normal(size=(BATCH, TIME, DIM)).astype(np.float32)
    mask = np.arange(TIME)[None, :] < np.array(LENGTHS)[:, None]
    return tf.Variable(inputs), tf.constant(mask)


def written_out(layer, gate, inputs, mask):
    """The equations of section 3.2.2, step by step; TensorFlow finds the gradient."""
    kernel, recurrent, bias = layer.trainable_variables
    output = cell = tf.zeros([BATCH, UNITS])
    outputs = []
    for t in range(TIME):
        sums = inputs[:, t] @ kernel + output @ recurrent + bias
        let_in, keep, candidate, let_out = tf.split(sums, 4, axis=1)
        new = gate(keep) * cell + gate(let_in) * tf.clip_by_value(0.2 * candidate + 0.5, 0, 1)
        shown = gate(let_out) * tf.clip_by_value(0.2 * new + 0.5, 0, 1)
        output = tf.where(mask[:, t : t + 1], shown, output)
        cell = tf.where(mask[:, t : t + 1], new, cell)
        outputs.append(output)
    return tf.stack(outputs, axis=1)


@pytest.mark.parametrize(
    ("gates", "gate"),
    [("printed", tf.nn.elu), ("bounded", lambda x: tf.minimum(tf.nn.elu(x), 1.0))],
)
def test_outputs_and_gradients_are_those_of_the_equations(gates, gate):
    layer = lstm(gates)
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
    theirs = with_gradients(lambda: written_out(layer, gate, inputs, mask))
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)


def test_weights_start_he_normal():
    kernel, recurrent, bias = lstm("printed", dim=200, units=100).get_weights()
    assert np.std(kernel) == pytest.approx((2 / 200) ** 0.5, rel=0.05)
    assert np.std(recurrent) == pytest.approx((2 / 100) ** 0.5, rel=0.05)
    assert np.unique(bias[100:200]) == [1.0]
    assert bias.sum() == 100
    inputs = tf_keras.Input([400])
    kernel, _ = tf_keras.Model(inputs, network().dense(inputs, 50)).get_weights()
    assert np.std(kernel) == pytest.approx((2 / 400) ** 0.5, rel=0.05)


def test_sif_weights_by_hand():
    # Of 5 words, row 2 is 3 and row 3 is 2; row 4 does not train.
    found = Sif(TRAINING, TABLE, a=0.1).word_weights
    np.testing.assert_allclose(found, [0, 1, 0.1 / 0.7, 0.1 / 0.5, 1], rtol=1e-6)


def test_sif_takes_the_first_component_away():
    # Both sentences lie along (1, 0): that is the component, and what is left is orthogonal.
    layer = Sif([[2], [2, 2]], TABLE, a=0.5)
    # Row 2 has p = 1 and weighs 1/3, rows 3 and 4 weigh 1.
    found = layer(*words([4], [2, 3], [2]))
    np.testing.assert_allclose(found, [[0, 1], [0, 0.5], [0, 0]], atol=1e-6)
    assert not layer.trainable_variables


def test_both_ends_are_read():
    def both(*rows):
        # The same seeds: the same weights.
        return network().bidirectional_lstm(*words(*rows))[:, -1]

    long, short = both([2, 3, 4], [3, 2]), both([3, 2])
    np.testing.assert_allclose(long[1], short[0], rtol=1e-5)  # padding changes nothing
    assert not np.allclose(both([2, 3]), short)
    assert short.shape == (1, 6)


def model_of(comparator):
    """A comparator of two embeddings of width 2, as a model; its kernels."""
    inputs = [tf_keras.Input([2]) for _ in range(2)]
    sides = [side[:, tf.newaxis] for side in inputs]
    made = tf_keras.Model(inputs, comparator(*sides, None))
    return made, [weight for weight in made.trainable_variables if len(weight.shape) == 2]


def test_the_distance_is_euclidean_and_the_layers_halve():
    compare, kernels = model_of(network().distance)
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
    compare, (hidden, last) = model_of(network().perceptron)
    hidden.assign([[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 1]])
    last.assign([[1], [10], [100]])
    found = compare([tf.constant([[1.0, 2.0]]), tf.constant([[3.0, 4.0]])])
    np.testing.assert_allclose(found, [[1 + 20 + 700]])


@pytest.mark.parametrize(
    "row", [pytest.param(row, marks=[] if row in FEW else [pytest.mark.slow]) for row in TABLE_2]
)
def test_padding_does_not_change_a_score(row):
    made = network(row).model()
    sides = [padded([2, 3, 4], [3]), padded([2], [4, 2])]
    longer = [padded([2, 3, 4, 0], [3]), padded([2], [4, 2, 0, 0, 0])]
    np.testing.assert_allclose(made(sides), made(longer), rtol=1e-5)
    alone = [side[1:2, :length] for side, length in zip(sides, (1, 2), strict=True)]
    np.testing.assert_allclose(made(alone)[0], made(sides)[1], rtol=1e-5)


WIDE = np.random.default_rng(0).normal(size=(14, 6)).astype(np.float32)
WIDE[:2] = 0


def pairs(count=24, longest=9):
    """Pairs of sentences that are the same, score 5, or not, score 0."""
    draw = np.random.default_rng(1)
    sentences = [
        draw.integers(2, 14, size=draw.integers(1, longest)).tolist() for _ in range(count)
    ]
    second = [sentences[i] if i % 2 else sentences[i - 1][::-1] for i in range(count)]
    scores = np.array([5.0 * (i % 2) for i in range(count)], np.float32)
    return Pairs(sentences, second, scores)


def losses(row, some, *, epochs):
    settings = Settings(learning_rate=1e-2)
    given = {"table": WIDE, "training": some.sentences(), "seed": 0}
    made = Network(TABLE_2[row], settings, **given).model()
    return regressor.train(made, some, settings, epochs=epochs, seed=0)


def test_batches_take_each_pair_once_and_like_lengths_together():
    some = pairs(300)
    found = list(regressor.batches(some, size=20, order=np.random.default_rng(2)))
    assert sorted(np.concatenate(found)) == list(range(300))
    lengths = [[len(some.first[i]) + len(some.second[i]) for i in batch] for batch in found]
    assert np.mean([np.std(each) for each in lengths]) < 0.3 * np.std(np.concatenate(lengths))
    again = list(regressor.batches(some, size=20, order=np.random.default_rng(3)))
    assert not np.array_equal(found[0], again[0])


@pytest.mark.parametrize(
    "row",
    [
        pytest.param("lstm1_lstm1", marks=pytest.mark.slow),
        pytest.param("l2_lstm_50", marks=pytest.mark.slow),
        "sif_perceptron",
    ],
)
def test_the_loss_falls(row):
    first, *_, last = losses(row, pairs(), epochs=12)
    assert last < 0.9 * first
    bad = pairs()._replace(scores=np.full(24, 1e30, np.float32))
    with pytest.raises(regressor.DivergedError):
        losses(row, bad, epochs=3)

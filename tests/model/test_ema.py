"""The moving average of the weights, by hand, and the weights that come back."""

import numpy as np
import pytest
import tensorflow as tf
import tf_keras

from model import ema
from model.configs import schema
from model.ema import WeightAverage


@pytest.fixture
def model():
    """One variable, of one number."""
    layer = tf_keras.layers.Dense(1, use_bias=False, kernel_initializer="ones")
    return tf_keras.Sequential([tf_keras.Input([1]), layer])


def averages(model, config, weights):
    """The average after each step that gave the model one of the weights."""
    average = WeightAverage(model, config)
    (weight,) = model.trainable_variables
    for number, value in enumerate(weights, 1):
        weight.assign([[value]])
        average.step(number)
        yield float(average.values[0].numpy().item())


# The decays are 2/11, 3/12, and then 0.3 instead of 4/13 and 5/14.
EVERY = [FIRST := 2 / 11 * 1 + 9 / 11 * 12, SECOND := 3 / 12 * FIRST + 9 / 12 * 4]
EVERY += [THIRD := 0.3 * SECOND + 0.7 * -2, 0.3 * THIRD + 0.7 * 5]
EVERY_OTHER = [1, OTHER := 2 / 11 * 1 + 9 / 11 * 4, OTHER, 3 / 12 * OTHER + 9 / 12 * 5]


@pytest.mark.parametrize(("decay", "every", "expected"), [(0.3, 1, EVERY), (0.99, 2, EVERY_OTHER)])
def test_the_first_updates_count_more_until_the_decay_is_reached(model, decay, every, expected):
    config = schema.Trainer(average_decay=decay, average_every=every)
    found = list(averages(model, config, [12, 4, -2, 5]))
    np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize("rows", [2, 5])
@pytest.mark.parametrize(
    "strategy",
    [tf.distribute.get_strategy, lambda: tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])],
)
def test_a_table_that_is_moved_in_parts_is_moved_alike(strategy, rows, monkeypatch):
    monkeypatch.setattr(ema, "_ROWS_AT_ONCE", rows)
    strategy = strategy()
    generator = np.random.default_rng(0)
    began, later = (generator.normal(size=(5, 3)).astype(np.float32) for _ in range(2))
    with strategy.scope():
        layer = tf_keras.layers.Embedding(5, 3)
        layer.build(None)
        layer.embeddings.assign(began)
        average = WeightAverage(layer, schema.Trainer(average_decay=0.1, average_every=1))
    layer.embeddings.assign(later)
    average.step(1)
    decay = np.float32(0.1)
    (value,) = average.values
    for copy in strategy.experimental_local_results(value):
        np.testing.assert_array_equal(copy, decay * began + (1 - decay) * later)
    with average.in_place():
        np.testing.assert_array_equal(layer.embeddings, value)
    np.testing.assert_array_equal(layer.embeddings, later)


def test_the_weights_come_back_bit_for_bit(model):
    average = WeightAverage(model, schema.Trainer(average_decay=0.5))
    (weight,) = model.trainable_variables
    own = np.array([[0.1]], np.float32)
    weight.assign(own)
    with pytest.raises(RuntimeError, match="of validation"), average.in_place():
        np.testing.assert_array_equal(weight, [[1]])
        raise RuntimeError("of validation")
    np.testing.assert_array_equal(weight, own)
    none = WeightAverage(model, schema.Trainer())
    none.step(1)
    with none.in_place():
        assert none.values == []
        np.testing.assert_array_equal(weight, own)

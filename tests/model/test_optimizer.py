"""Decays of the learning rate, what an optimizer does, and the moving average of the weights."""

import numpy as np
import pytest
import tensorflow as tf
import tf_keras

from model import ema, optimizer
from model.configs import schema
from model.ema import WeightAverage

RATE = "trainer__optimizer_config__learning_rate"
WARMUP = "trainer__optimizer_config__warmup"


def decay(parse, **changes):
    return parse(
        **{f"{RATE}__type": "polynomial", f"{RATE}__polynomial__initial_learning_rate": 0.1},
        **{
            name if name.startswith("trainer") else f"{RATE}__polynomial__{name}": value
            for name, value in changes.items()
        },
    )


def rate_at(params, number):
    built = optimizer.build(params)
    built.iterations.assign(number)
    return float(built._decayed_lr(tf.float32))


@pytest.mark.parametrize("named", [{}, {"decay_steps": 0}, {"decay_steps": 200}])
def test_a_linear_decay_takes_all_steps(parse, named):
    params = decay(parse, end_learning_rate=0.02, trainer__train_steps=200, **named)
    rates = [rate_at(params, number) for number in (0, 100, 200)]
    assert rates == pytest.approx([0.1, 0.06, 0.02])
    assert list(optimizer.notices(params.trainer)) == []
    stored = params.trainer.optimizer_config.learning_rate.get().decay_steps
    assert stored == named.get("decay_steps")


@pytest.mark.parametrize(("steps", "told"), [(60, 1), (200, 0), (300, 1)])
def test_a_schedule_that_does_not_fit_the_run_is_told(parse, steps, told):
    params = decay(parse, decay_steps=steps, trainer__train_steps=200)
    assert len(list(optimizer.notices(params.trainer))) == told
    warmup = {f"{WARMUP}__type": "linear", f"{WARMUP}__linear__warmup_steps": steps}
    params = parse(**warmup, trainer__train_steps=201)
    assert len(list(optimizer.notices(params.trainer))) == (steps > 200)


def test_the_rate_goes_on_where_a_run_is_prolonged(ends, tmp_path, events):
    """20 steps from 0.1 to 0, then 20 more: at step 40 of 40 the rate is 0 again, not before."""
    folder = tmp_path / "run"
    changes = {
        f"{RATE}__type": "polynomial",
        f"{RATE}__polynomial__initial_learning_rate": 0.1,
        f"{RATE}__polynomial__end_learning_rate": 0.0,
        "trainer__steps_per_loop": 10,
    }
    assert ends(folder, **changes, trainer__train_steps=20)[0] == 0
    assert ends(folder, **changes, trainer__train_steps=40)[0] == 0
    assert events(folder / "train")["learning_rate"] == pytest.approx(
        {10: 0.05, 20: 0.0, 30: 0.025, 40: 0.0}
    )


def test_gradients_are_clipped_together(parse):
    sgd = "trainer__optimizer_config__optimizer"
    params = parse(**{f"{sgd}__type": "sgd", f"{sgd}__sgd__global_clipnorm": 1.3})
    weights = [tf.Variable([0.0, 0.0]), tf.Variable([0.0])]
    gradients = [tf.constant([3.0, 4.0]), tf.constant([12.0])]  # of length 13
    optimizer.build(params).apply_gradients(zip(gradients, weights, strict=True))
    # The rate is 0.05.
    changes = [value for weight in weights for value in weight.numpy()]
    assert changes == pytest.approx([-0.015, -0.02, -0.06])


def test_rowwise_adagrad_sums_the_mean_square_of_each_row(parse):
    section = "trainer__optimizer_config__optimizer"
    values = {"initial_accumulator_value": 0.75, "epsilon": 1e-9}
    params = parse(
        **{f"{section}__type": "rowwise_adagrad"},
        **{f"{section}__rowwise_adagrad__{name}": value for name, value in values.items()},
    )
    built = optimizer.build(params)  # the rate is 0.05
    table, bias = tf.Variable([[0.0, 0.0], [8.0, 8.0], [0.0, 0.0]]), tf.Variable([0.0, 0.0])
    rows = tf.IndexedSlices(tf.constant([[3.0, 4.0], [0.5, 0.5]]), tf.constant([2, 0]), [3, 2])
    dense = tf.constant([0.5, 3.0])
    built.apply_gradients([(rows, table), (dense, bias)])
    # The roots of 0.75 + 0.25, of 0.75 + 12.5 and of 0.75 + 9.
    expected = [[-0.025, -0.025], [8, 8], [-0.15 / 13.25**0.5, -0.2 / 13.25**0.5]]
    np.testing.assert_allclose(table, expected, rtol=1e-6)
    np.testing.assert_allclose(bias, [-0.025, -0.15 / 9.75**0.5], rtol=1e-6)
    # A second step adds to the sums, and a dense gradient does what rows do.
    built.apply_gradients([(tf.convert_to_tensor(rows), table), (dense, bias)])
    np.testing.assert_allclose(table[0], [-0.025 - 0.025 / 1.25**0.5] * 2, rtol=1e-6)
    np.testing.assert_allclose(table[1], [8, 8])
    assert [slot.shape for slot in built.variables()[1:]] == [[3], [2]]


@pytest.fixture
def model():
    """One variable, of one number."""
    layer = tf_keras.layers.Dense(1, use_bias=False, kernel_initializer="ones")
    return tf_keras.Sequential([tf_keras.Input([1]), layer])


# The decays are 2/11, 3/12, and then 0.3 instead of 4/13 and 5/14.
EVERY = [FIRST := 2 / 11 * 1 + 9 / 11 * 12, SECOND := 3 / 12 * FIRST + 9 / 12 * 4]
EVERY += [THIRD := 0.3 * SECOND + 0.7 * -2, 0.3 * THIRD + 0.7 * 5]
EVERY_OTHER = [1, OTHER := 2 / 11 * 1 + 9 / 11 * 4, OTHER, 3 / 12 * OTHER + 9 / 12 * 5]


@pytest.mark.parametrize(("decay", "every", "expected"), [(0.3, 1, EVERY), (0.99, 2, EVERY_OTHER)])
def test_the_first_updates_count_more_until_the_decay_is_reached(model, decay, every, expected):
    average = WeightAverage(model, schema.Trainer(average_decay=decay, average_every=every))
    (weight,) = model.trainable_variables
    for number, (value, after) in enumerate(zip([12, 4, -2, 5], expected, strict=True), 1):
        weight.assign([[value]])
        average.step(number)
        np.testing.assert_allclose(average.values[0], [[after]], rtol=1e-6)


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

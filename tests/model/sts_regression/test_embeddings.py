import itertools

import numpy as np
import pytest
import tensorflow as tf
import tf_keras

from model.sts_regression.choices import Choices
from model.sts_regression.experiments import TABLE_2
from model.sts_regression.layers import regressor
from model.sts_regression.layers.comparators import distance, lstm_comparator
from model.sts_regression.layers.embeddings import (
    bidirectional_lstm,
    lstm_stack,
    sif,
    sif_weights,
)
from model.sts_regression.layers.materials import Embedded, Materials, Words

TABLE = np.array([[0, 0], [0, 0], [1, 0], [0, 1], [1, 1]], np.float32)
TRAINING = [[2, 3], [2, 2], [3]]
FEW = ("lstm1_perceptron", "l2_lstm_50", "sif_perceptron")
"""A row of each kind of network."""


def materials(training=TRAINING, **options):
    return Materials(Choices(**options), 3, TABLE, training, itertools.count(1))


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
    found = sif(words([4], [2, 3], [2]), materials([[2], [2, 2]], sif_a=0.5)).last
    # Row 2 has p = 1 and weighs 1/3, rows 3 and 4 weigh 1.
    np.testing.assert_allclose(found, [[0, 1], [0, 0.5], [0, 0]], atol=1e-6)


def model_of(embedding, **options):
    """An embedding as a model, to see its weights."""
    ids = tf_keras.Input([None], dtype=tf.int32)
    vectors = tf_keras.layers.Embedding(*TABLE.shape, trainable=False)
    found = Words(ids, vectors(ids), ids != 0)
    return tf_keras.Model(ids, list(embedding(found, materials(), **options)))


def test_nothing_of_sif_is_trained():
    assert not model_of(sif).trainable_variables


def test_a_stack_feeds_each_lstm_with_the_one_before():
    one, two = (model_of(lstm_stack, layers=layers) for layers in (1, 2))
    assert len(two.trainable_variables) == 2 * len(one.trainable_variables) == 6
    found = Embedded(*two(padded([2, 3, 4], [2])))
    assert found.sequence.shape == (2, 3, 3)
    np.testing.assert_array_equal(found.last, found.sequence[:, -1])


def test_both_ends_are_read():
    def both(*rows):
        return bidirectional_lstm(words(*rows), materials())  # the same seeds: the same weights

    long, short = both([2, 3, 4], [3, 2]), both([3, 2])
    assert long.last.shape == (2, 6)
    np.testing.assert_allclose(long.last[1], short.last[0], rtol=1e-5)  # padding changes nothing
    turned = both([2, 3])
    assert not np.allclose(turned.last, short.last)


def test_the_end_of_the_backward_lstm_is_at_the_first_word():
    found = bidirectional_lstm(words([2, 3, 4]), materials())
    forward, backward = found.sequence[:, :, :3], found.sequence[:, :, 3:]
    np.testing.assert_array_equal(found.last, tf.concat([forward[:, -1], backward[:, 0]], axis=1))


def embedded(*lengths, width=4):
    time = max(lengths)
    mask = np.arange(time) < np.array(lengths)[:, None]
    sequence = np.random.default_rng(time).normal(size=(len(lengths), time, width))
    for row, length in enumerate(lengths):
        sequence[row, length:] = sequence[row, length - 1]
    values = tf.constant(sequence, tf.float32)
    return Embedded(values[:, -1], values, tf.constant(mask))


@pytest.mark.parametrize("concatenation", ["features", "time"])
def test_an_lstm_compares_sequences_of_different_lengths(concatenation):
    def compare(*sides):
        return lstm_comparator(*sides, materials(concatenation=concatenation), layers=2)

    first, second = embedded(3, 1, 5), embedded(5, 2, 4)
    both = compare(first, second)
    for row, length in enumerate((5, 2, 5)):
        sides = [
            Embedded(side.last[row : row + 1], *(x[row : row + 1, :length] for x in side[1:]))
            for side in (first, second)
        ]
        np.testing.assert_allclose(compare(*sides)[0], both[row], rtol=1e-5)


def test_the_distance_has_a_gradient_at_0():
    first = embedded(2, 2)
    with tf.GradientTape() as tape:
        tape.watch(first.last)
        score = distance(first, first, materials())
    assert np.isfinite(tape.gradient(score, first.last)).all()


@pytest.mark.parametrize(
    "row",
    [pytest.param(row, marks=[] if row in FEW else [pytest.mark.slow]) for row in TABLE_2],
)
def test_padding_does_not_change_a_score(row):
    made = regressor.build(TABLE_2[row], Choices(units=3), table=TABLE, training=TRAINING, seed=1)
    sides = [padded([2, 3, 4], [3]), padded([2], [4, 2])]
    longer = [padded([2, 3, 4, 0], [3]), padded([2], [4, 2, 0, 0, 0])]
    np.testing.assert_allclose(made(sides), made(longer), rtol=1e-5)
    alone = [side[1:2, :length] for side, length in zip(sides, (1, 2), strict=True)]
    np.testing.assert_allclose(made(alone)[0], made(sides)[1], rtol=1e-5)


@pytest.mark.parametrize(
    "row",
    [
        pytest.param("lstm2_lstm2", marks=pytest.mark.slow),
        pytest.param("l2_lstm_50", marks=pytest.mark.slow),
        "sif_perceptron",
    ],
)
def test_a_regressor_survives_a_keras_file(row, tmp_path):
    choices = Choices(units=3, gates="bounded")
    made = regressor.build(TABLE_2[row], choices, table=TABLE, training=TRAINING, seed=1)
    made.save(tmp_path / "regressor.keras")
    again = tf_keras.models.load_model(tmp_path / "regressor.keras")
    sides = [padded([2, 3, 4], [3]), padded([2], [4, 2])]
    np.testing.assert_array_equal(again(sides), made(sides))


@pytest.mark.slow
@pytest.mark.parametrize(("padding", "read"), [("after", [4, 2, 0, 0]), ("before", [0, 0, 4, 2])])
def test_padding_that_is_not_masked_is_read_like_words(padding, read):
    training = [[2, 3, 4, 2], [3]]  # the longest has four words
    choices = Choices(units=3, padding=padding)
    made = regressor.build(
        TABLE_2["lstm1_perceptron"], choices, table=TABLE, training=training, seed=1
    )
    weights = made.get_weights()
    masked = regressor.build(
        TABLE_2["lstm1_perceptron"],
        Choices(units=3),
        # Row 5 is a word that has the vector of padding.
        table=np.concatenate([TABLE, TABLE[:1]]),
        training=training,
        seed=1,
    )
    masked.set_weights([masked.get_weights()[0], *weights[1:]])
    spelt = [5 if word == 0 else word for word in read]
    sides = [padded([4, 2]), padded([2, 3, 4, 3])]
    np.testing.assert_allclose(made(sides), masked([padded(spelt), sides[1]]), rtol=1e-5)
    shorter = made([padded([4, 2]), padded([2, 3])])
    assert not np.allclose(shorter, made([padded([4, 2, 4]), padded([2, 3])]))

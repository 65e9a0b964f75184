import itertools

import numpy as np
import pytest
import tensorflow as tf

from model.sts_regression.choices import Choices
from model.sts_regression.layers.comparators import DistanceComparator, LstmComparator, Perceptron
from model.sts_regression.layers.embeddings import (
    BidirectionalLstm,
    Embedded,
    LstmStack,
    Materials,
    Sif,
    Words,
    sif_weights,
)

TABLE = np.array([[0, 0], [0, 0], [1, 0], [0, 1], [1, 1]], np.float32)
TRAINING = [[2, 3], [2, 2], [3]]


def materials(training=TRAINING, **options):
    return Materials(Choices(**options), 3, TABLE, training, itertools.count(1))


def words(*rows):
    ids = tf.transpose(tf.ragged.constant(rows, tf.int32).to_tensor(0))
    real = tf.cast(ids != 0, tf.float32)[..., tf.newaxis]
    return Words(ids, tf.gather(TABLE, ids), real)


def test_sif_weights_by_hand():
    # Of 5 words, row 2 is 3 and row 3 is 2; row 4 does not train.
    found = sif_weights(TRAINING, rows=5, a=0.1)
    np.testing.assert_allclose(found, [0, 1, 0.1 / 0.7, 0.1 / 0.5, 1], rtol=1e-6)


def test_sif_takes_the_first_component_away():
    # Both sentences lie along (1, 0): that is the component, and what is left is orthogonal.
    sif = Sif(materials([[2], [2, 2]], sif_a=0.5))
    found = sif(words([4], [2, 3], [2])).last
    # Row 2 has p = 1 and weighs 1/3, rows 3 and 4 weigh 1.
    np.testing.assert_allclose(found, [[0, 1], [0, 0.5], [0, 0]], atol=1e-6)
    assert not sif.trainable_variables


def test_a_stack_feeds_each_lstm_with_the_one_before():
    one, two = (LstmStack(materials(), layers=layers) for layers in (1, 2))
    assert len(two.trainable_variables) == 2 * len(one.trainable_variables) == 6
    found = two(words([2, 3, 4], [2]))
    assert found.sequence.shape == (3, 2, 3)
    np.testing.assert_array_equal(found.last, found.sequence[-1])


def test_both_ends_are_read():
    both = BidirectionalLstm(materials())
    long, short = both(words([2, 3, 4], [3, 2])), both(words([3, 2]))
    assert long.last.shape == (2, 6)
    np.testing.assert_allclose(long.last[1], short.last[0], rtol=1e-5)  # padding changes nothing
    turned = both(words([2, 3]))
    assert not np.allclose(turned.last, short.last)


def embedded(*lengths, width=4):
    time = max(lengths)
    real = np.arange(time)[:, None] < np.array(lengths)
    sequence = np.random.default_rng(time).normal(size=(time, len(lengths), width))
    for row, length in enumerate(lengths):
        sequence[length:, row] = sequence[length - 1, row]
    values = tf.constant(sequence, tf.float32)
    return Embedded(values[-1], values, tf.constant(real[..., None], tf.float32))


@pytest.mark.parametrize("concatenation", ["features", "time"])
def test_an_lstm_compares_sequences_of_different_lengths(concatenation):
    compare = LstmComparator(materials(concatenation=concatenation), width=4, layers=2)
    first, second = embedded(3, 1), embedded(5, 2)
    both = compare(first, second)
    for row, lengths in enumerate(((3, 5), (1, 2))):
        sides = [
            Embedded(side.last[row : row + 1], *(x[:length, row : row + 1] for x in side[1:]))
            for side, length in zip((first, second), lengths, strict=True)
        ]
        np.testing.assert_allclose(compare(*sides)[0], both[row], rtol=1e-5)


def test_the_perceptron_has_one_hidden_layer_and_a_node():
    shapes = [tuple(v.shape) for v in Perceptron(materials(), width=4).trainable_variables]
    assert sorted(shapes) == [(1,), (3,), (3, 1), (8, 3)]


def test_the_distance_goes_through_5_2_1_nodes():
    compare = DistanceComparator(materials(), width=4)
    shapes = [tuple(v.shape) for v in compare.trainable_variables if len(v.shape) == 2]
    assert sorted(shapes) == [(1, 5), (2, 1), (5, 2)]
    first = embedded(2, 2)
    with tf.GradientTape() as tape:
        tape.watch(first.last)
        score = compare(first, first)
    assert np.isfinite(tape.gradient(score, first.last)).all()  # at distance 0

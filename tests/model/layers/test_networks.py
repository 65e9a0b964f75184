"""The networks behind the encoder: of a response (figure 3), and of an input's context."""

import numpy as np
import pytest
import tensorflow as tf

from model.layers.networks import ContextNetwork, ResponseNetwork

U = np.array([[0.6, 0.8]], np.float32)
C = np.array([[1.0, 0.0]], np.float32)
HAS, HAS_NOT = tf.constant([True]), tf.constant([False])


@pytest.fixture
def context():
    made = ContextNetwork(2)
    made(U, C, HAS)
    return made


def test_a_context_is_added_as_it_has_learned(context):
    # (0.6, 0.8) + 2 (1, 0) + (1, 0) swapped + (0.4, -0.6) = (3, 1.2).
    context.set_weights([np.array(2.0), np.eye(2)[::-1], np.array([0.4, -0.6])])
    expected = np.array([[3.0, 1.2]]) / np.hypot(3.0, 1.2)
    np.testing.assert_allclose(context(U, C, HAS), expected, rtol=1e-6)


def test_without_a_context_an_input_keeps_its_bits(context):
    context.set_weights([np.array(2.0), np.eye(2), np.ones(2)])
    rows = context(np.repeat(U, 2, axis=0), np.repeat(C, 2, axis=0), tf.constant([False, True]))
    np.testing.assert_array_equal(rows[0], U[0])
    assert np.abs(rows[1] - U[0]).max() > 0.1


def test_sums_keep_their_bits_in_mixed_precision(bfloat16):
    made = ContextNetwork(2)
    rows = made(U, C, HAS)
    assert rows.dtype == tf.float32
    np.testing.assert_allclose(rows, np.array([[0.9, 0.8]]) / np.sqrt(1.45), rtol=1e-6)
    np.testing.assert_array_equal(made(U, C, HAS_NOT), U)


V = np.array([[3.0, 4.0]], np.float32)


def network(**options):
    made = ResponseNetwork(2, **{"hidden": []} | options)
    made(V)
    return made


def test_it_is_its_layers():
    made = network(hidden=[2])
    identity, swap, zeros = np.eye(2), np.eye(2)[::-1], np.zeros(2)
    made.set_weights([identity, zeros, swap, zeros])
    np.testing.assert_allclose(made(V), np.tanh([[4.0, 3.0]]), rtol=1e-6)


def test_what_it_has_learned_is_added():
    np.testing.assert_array_equal(network(residual=True, hidden=[3, 5])(V), V)  # at first nothing
    made = network(residual=True, normalize=True)
    np.testing.assert_allclose(made(V), [[0.6, 0.8]], rtol=1e-6)
    made.set_weights([np.eye(2)[::-1], np.array([0.0, 17.0])])
    # (3, 4) + (4, 3) + (0, 17) = (7, 24), of length 25.
    np.testing.assert_allclose(made(V), [[0.28, 0.96]], rtol=1e-6)


def test_what_is_added_keeps_its_bits_in_mixed_precision(bfloat16):
    fine = np.array([[1.0, 1.0 + 2**-12]], np.float32)
    np.testing.assert_array_equal(network(residual=True)(fine), fine)

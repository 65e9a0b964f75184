"""What was said before an input joins its embedding."""

import numpy as np
import pytest
import tensorflow as tf

from model.layers.context_network import ContextNetwork

U = np.array([[0.6, 0.8]], np.float32)
C = np.array([[1.0, 0.0]], np.float32)
HAS, HAS_NOT = tf.constant([True]), tf.constant([False])


@pytest.fixture
def network():
    made = ContextNetwork(2)
    made(U, C, HAS)
    return made


def test_what_it_has_learned_is_added(network):
    # (0.6, 0.8) + 2 (1, 0) + (1, 0) swapped + (0.4, -0.6) = (3, 1.2).
    network.set_weights([np.array(2.0), np.eye(2)[::-1], np.array([0.4, -0.6])])
    expected = np.array([[3.0, 1.2]]) / np.hypot(3.0, 1.2)
    np.testing.assert_allclose(network(U, C, HAS), expected, rtol=1e-6)


def test_without_a_context_an_input_keeps_its_bits(network):
    network.set_weights([np.array(2.0), np.eye(2), np.ones(2)])
    rows = network(np.repeat(U, 2, axis=0), np.repeat(C, 2, axis=0), tf.constant([False, True]))
    np.testing.assert_array_equal(rows[0], U[0])
    assert np.abs(rows[1] - U[0]).max() > 0.1


def test_sums_keep_their_bits_in_mixed_precision(bfloat16):
    made = ContextNetwork(2)
    rows = made(U, C, HAS)
    assert rows.dtype == tf.float32
    np.testing.assert_allclose(rows, np.array([[0.9, 0.8]]) / np.sqrt(1.45), rtol=1e-6)
    np.testing.assert_array_equal(made(U, C, HAS_NOT), U)

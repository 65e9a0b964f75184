"""The feed-forward network between the response's embedding and the score (figure 3)."""

import numpy as np

from model.layers.response_network import ResponseNetwork

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

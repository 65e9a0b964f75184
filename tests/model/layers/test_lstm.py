"""The recurrent encoder: its states by hand, its pooling, and what padding must not change."""

import numpy as np
import pytest
import tensorflow as tf
import tf_keras

from model.configs import schema
from model.layers import encoders

SIZES = {"words": 50, "bigrams": 60}
SMALL = {"word_dim": 4, "units": 3}
PADDED = [[5, 6, 7, 0, 0], [8, 0, 0, 0, 0]]


def build(**options):
    config = schema.Recurrent(**SMALL | options)
    return encoders.build(schema.Encoder(type="recurrent", recurrent=config), SIZES)


def encode(encoder, rows, training=False):
    outputs = encoder({"words": tf.constant(rows)}, training=training)
    return {name: output.numpy() for name, output in outputs.items()}


def unit(row):
    return row / np.linalg.norm(row)


def hidden_states(kernels, vectors):
    """h after each of the vectors, from the cell's weights alone: [tokens, units]."""
    cell = tf_keras.layers.LSTMCell(SMALL["units"])
    cell.build([None, SMALL["word_dim"]])
    cell.set_weights(kernels)
    states, hidden = [tf.zeros([1, SMALL["units"]])] * 2, []
    for vector in vectors:
        output, states = cell(vector[np.newaxis], states)
        hidden.append(output.numpy()[0])
    return np.array(hidden)


def both_directions(encoder, ids):
    """The table, three weights of the forward cell and three of the backward one."""
    table, *kernels = encoder.get_weights()
    forward = hidden_states(kernels[:3], table[ids])
    backward = hidden_states(kernels[3:], table[ids[::-1]])
    return forward, backward


def test_the_sequence_is_both_directions_side_by_side_and_0_at_padding():
    encoder = build()
    forward, backward = both_directions(encoder, [5, 6, 7])
    sequence = encode(encoder, PADDED)["sequence_output"]
    assert sequence.shape == (2, 5, 6)
    np.testing.assert_allclose(sequence[0, :3, :3], forward, atol=1e-6)
    np.testing.assert_allclose(sequence[0, :3, 3:], backward[::-1], atol=1e-6)
    assert not sequence[0, 3:].any()


def test_the_maximum_and_the_last_states_are_of_the_real_words():
    encoder = build(pooling="max")
    states = np.concatenate(both_directions(encoder, [5, 6, 7]), axis=1)
    states[:, 3:] = states[::-1, 3:]
    row = encode(encoder, PADDED)["default"][0]
    np.testing.assert_allclose(row, unit(states.max(axis=0)), atol=1e-6)
    encoder = build(pooling="last")
    last = np.concatenate([states[-1] for states in both_directions(encoder, [5, 6, 7])])
    np.testing.assert_allclose(encode(encoder, PADDED)["default"][0], unit(last), atol=1e-6)


@pytest.mark.parametrize(
    ("bidirectional", "pooling", "layers"),
    [(False, "last", 1), (False, "max", 2), (True, "last", 2), (True, "max", 1)],
)
def test_padding_changes_nothing(bidirectional, pooling, layers):
    encoder = build(bidirectional=bidirectional, pooling=pooling, layers=layers)
    alone = encode(encoder, [[5, 6, 7]])
    padded = encode(encoder, [[5, 6, 7, *[0] * 9], list(range(1, 13))])
    np.testing.assert_allclose(padded["default"][:1], alone["default"], atol=1e-5)
    sequence = padded["sequence_output"]
    np.testing.assert_allclose(sequence[:1, :3], alone["sequence_output"], atol=1e-5)


@pytest.mark.parametrize("pooling", ["last", "max"])
def test_padding_in_the_middle_is_skipped(pooling):
    encoder = build(pooling=pooling, layers=2)
    holes = encode(encoder, [[5, 0, 6, 0, 7], [0, 0, 0, 0, 8]])["default"]
    np.testing.assert_allclose(holes, encode(encoder, PADDED)["default"], atol=1e-6)


@pytest.mark.parametrize("shape", [(0, 0), (0, 3)])
def test_a_batch_of_none_gives_none(shape):
    encoder = build()
    run = tf.function(encoder, [{"words": tf.TensorSpec([None, None], tf.int32)}])
    outputs = run({"words": tf.zeros(shape, tf.int32)})
    width = 2 * SMALL["units"]
    assert outputs["default"].shape == (0, width)
    assert outputs["sequence_output"].shape == (*shape, width)
    assert outputs["mask"].shape == shape

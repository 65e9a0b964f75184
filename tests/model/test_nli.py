"""The classifier's features, layers and loss, by hand."""

import numpy as np
import pytest
import tensorflow as tf
import tf_keras

from data_pipeline import records
from model import configs, nli

U1 = tf.constant([[1.0, -2.0], [0.5, 3.0]])
U2 = tf.constant([[4.0, 2.0], [0.5, -1.0]])
ROOT = np.sqrt(2)  # of how many numbers a vector has
FEATURES = np.array([[1, -2, 4, 2, 3, 4, 4, -4], [0.5, 3, 0.5, -1, 0, 4, 0.25, -3]]) * [
    *[ROOT] * 6,
    *[2] * 2,
]


def test_the_features_are_both_vectors_their_distance_and_their_product():
    np.testing.assert_allclose(nli.pair_features(U1, U2), FEATURES, rtol=1e-6)


def test_one_hidden_layer_of_512_units_and_a_logit_for_each_label():
    head = nli.NliHead(configs.Nli())
    logits = head(U1, U2)
    assert logits.shape == (2, len(records.LABELS))
    assert [tuple(weight.shape) for weight in head.weights] == [(8, 512), (512,), (512, 3), (3,)]


@pytest.mark.parametrize(
    ("activation", "function"), [("tanh", np.tanh), ("relu", lambda x: np.maximum(x, 0))]
)
def test_the_logits_are_the_layers_of_the_features(activation, function):
    head = nli.NliHead(configs.Nli(hidden=[5, 4], activation=activation))
    head(U1, U2)
    rows = FEATURES
    *hidden, kernel, bias = (weight.numpy() for weight in head.weights)
    for index in (0, 2):
        rows = function(rows @ hidden[index] + hidden[index + 1])
    np.testing.assert_allclose(head(U1, U2), rows @ kernel + bias, rtol=1e-5, atol=1e-6)


def test_without_a_hidden_layer_it_is_linear():
    head = nli.NliHead(configs.Nli(hidden=[]))
    logits = head(U1, U2)
    kernel, bias = head.weights
    np.testing.assert_allclose(logits, FEATURES @ kernel + bias, rtol=1e-5)


def test_dropout_is_of_training_only():
    head = nli.NliHead(configs.Nli(dropout=0.5))
    still = head(U1, U2)
    np.testing.assert_array_equal(head(U1, U2), still)
    assert np.abs(head(U1, U2, training=True) - still).max() > 0


def test_the_logits_are_float32_in_mixed_precision():
    tf_keras.mixed_precision.set_global_policy("mixed_bfloat16")
    try:
        head = nli.NliHead(configs.Nli())
        logits = head(U1, U2)
    finally:
        tf_keras.mixed_precision.set_global_policy("float32")
    assert logits.dtype == tf.float32
    assert {weight.dtype for weight in head.weights} == {tf.float32}
    assert nli.pair_features(tf.cast(U1, tf.bfloat16), tf.cast(U2, tf.bfloat16)).dtype == tf.float32


@pytest.mark.parametrize("integers", [tf.int32, tf.int64])
def test_the_loss_is_the_mean_log_likelihood_of_the_labels(integers):
    logits = tf.math.log([[1.0, 2.0, 5.0], [6.0, 1.0, 1.0], [3.0, 4.0, 3.0]])
    labels = tf.constant([2, 1, 1], integers)
    # The labels have probabilities 5/8, 1/8 and 4/10; the first and the last are the largest.
    classified = nli.nli_softmax(logits, labels)
    expected = -(np.log(5 / 8) + np.log(1 / 8) + np.log(4 / 10)) / 3
    np.testing.assert_allclose(classified.loss, expected, rtol=1e-6)
    np.testing.assert_allclose(classified.accuracy, 2 / 3, rtol=1e-6)


def test_both_sentences_get_a_gradient():
    head = nli.NliHead(configs.Nli())
    with tf.GradientTape() as tape:
        tape.watch([U1, U2])
        loss = nli.nli_softmax(head(U1, U2), tf.constant([0, 2])).loss
    for gradient in tape.gradient(loss, [U1, U2]):
        assert np.abs(gradient).min() > 0

"""The classifier's features, layers and loss, by hand."""

import numpy as np
import pytest
import tensorflow as tf

from model import losses
from model.layers import nli_head

U1 = tf.constant([[1.0, -2.0], [0.5, 3.0]])
U2 = tf.constant([[4.0, 2.0], [0.5, -1.0]])
WORDS = tf.zeros([2, 3]), tf.constant([0, 1])  # that only some classifiers look at
ENCODED = nli_head.Side(U1, *WORDS), nli_head.Side(U2, *WORDS)
PLAIN = np.array([[1, -2, 4, 2, 3, 4, 4, -4], [0.5, 3, 0.5, -1, 0, 4, 0.25, -3]])
ROOT = np.sqrt(2)  # of how many numbers a vector has
FEATURES = PLAIN * [*[ROOT] * 6, *[2] * 2]  # those of both vectors times the root


def test_without_the_factor_the_classifier_sees_the_plain_features():
    """Section 2.4, figure 5."""
    head = nli_head.NliHead(hidden=[], scale_by_root_of_dim=False)
    (logits,) = tf.unstack(head(*ENCODED), axis=1)
    kernel, bias = head.weights
    np.testing.assert_allclose(logits, PLAIN @ kernel + bias, rtol=1e-5, atol=1e-5)


def test_the_classifier_sees_the_largest_of_each_unit_over_the_words():
    head = nli_head.NliHead(hidden=[], max_units=2)
    words = tf.constant([[3.0, 1.0], [2.0, 4.0], [-1.0, -2.0]])
    of_row = tf.constant([0, 0, 1])
    first, second = nli_head.Side(U1, words, of_row), nli_head.Side(U2, -words, of_row)
    head(first, second)
    weights = {weight.name: weight for weight in head.weights}
    weights["nli_head/pooled/kernel:0"].assign(tf.eye(2))
    kernel, bias = (weights[f"nli_head/member_0/logits/{name}:0"] for name in ("kernel", "bias"))
    # By hand: of the first sentence's two words the largest are (3, 4), of length 5; of the
    # second's one, and of the negated words, what is below 0 counts as 0.
    largest = np.array([[[0.6, 0.8], [0, 0]], [[0, 0], [1 / 5**0.5, 2 / 5**0.5]]])
    u1, u2 = (
        ROOT * np.concatenate([u, pooled], axis=1)
        for u, pooled in zip((U1, U2), largest, strict=True)
    )
    features = np.concatenate([u1, u2, abs(u1 - u2), u1 * u2], axis=1)
    # The weights are drawn: a sum of products near 10 may cancel to something near 0.
    (logits,) = tf.unstack(head(first, second), axis=1)
    np.testing.assert_allclose(logits, features @ kernel + bias, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("activation", "function"), [("tanh", np.tanh), ("relu", lambda x: np.maximum(x, 0))]
)
def test_the_logits_are_the_layers_of_the_features(activation, function):
    head = nli_head.NliHead(hidden=[5, 4], activation=activation)
    head(*ENCODED)
    rows = FEATURES
    *hidden, kernel, bias = (weight.numpy() for weight in head.weights)
    for index in (0, 2):
        rows = function(rows @ hidden[index] + hidden[index + 1])
    np.testing.assert_allclose(head(*ENCODED)[:, 0], rows @ kernel + bias, rtol=1e-5, atol=1e-5)


def test_the_logits_are_float32_in_mixed_precision(bfloat16):
    head = nli_head.NliHead()
    logits = head(*ENCODED)
    assert logits.dtype == tf.float32
    assert {weight.dtype for weight in head.weights} == {tf.float32}
    narrow = [u._replace(embeddings=tf.cast(u.embeddings, tf.bfloat16)) for u in ENCODED]
    assert head(*narrow).dtype == tf.float32


@pytest.mark.parametrize("integers", [tf.int32, tf.int64])
def test_the_loss_is_the_mean_log_likelihood_of_the_labels(integers):
    logits = tf.math.log([[[1.0, 2.0, 5.0]], [[6.0, 1.0, 1.0]], [[3.0, 4.0, 3.0]]])
    labels = tf.constant([2, 1, 1], integers)
    # The labels have probabilities 5/8, 1/8 and 4/10; the first and the last are the largest.
    classified = losses.nli_softmax(logits, labels)
    expected = -(np.log(5 / 8) + np.log(1 / 8) + np.log(4 / 10)) / 3
    np.testing.assert_allclose(classified.loss, expected, rtol=1e-6)
    np.testing.assert_allclose(classified.accuracy, 2 / 3, rtol=1e-6)


# One pair, neutral, by two members: probabilities (6, 1, 1) / 8 and (1, 5, 4) / 10.
DISAGREEING = tf.math.log([[[6.0, 1.0, 1.0], [1.0, 5.0, 4.0]]])


def test_each_member_has_a_loss_of_its_own_and_all_say_one_label():
    np.testing.assert_allclose(
        nli_head.probabilities(DISAGREEING), [[0.425, 0.3125, 0.2625]], rtol=1e-6
    )
    classified = losses.nli_softmax(DISAGREEING, tf.constant([1]))
    np.testing.assert_allclose(classified.loss, -(np.log(1 / 8) + np.log(1 / 2)) / 2, rtol=1e-6)
    assert classified.accuracy == 0
    assert losses.nli_softmax(DISAGREEING, tf.constant([0])).accuracy == 1


def test_smoothing_gives_a_part_to_all_labels():
    # Of neutral 0.7 + 0.1 of the probability, of the others 0.1 each.
    of_members = [
        0.8 * np.log(1 / 8) + 0.1 * np.log(6 / 8) + 0.1 * np.log(1 / 8),
        0.8 * np.log(5 / 10) + 0.1 * np.log(1 / 10) + 0.1 * np.log(4 / 10),
    ]
    classified = losses.nli_softmax(DISAGREEING, tf.constant([1]), smoothing=0.3)
    np.testing.assert_allclose(classified.loss, -np.mean(of_members), rtol=1e-6)

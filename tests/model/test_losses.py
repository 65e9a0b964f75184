"""The in-batch softmax, by hand."""

import numpy as np
import pytest
import tensorflow as tf

from model import losses
from model.configs import schema
from model.dual_encoder import Encoded

PAPER = schema.Objective()


def dots(*rows, scale=1.0):
    """Pairs whose dot products are the logarithms of `rows`, which the softmax takes back."""
    return Encoded(
        inputs=tf.math.log(rows), responses=tf.eye(len(rows)), score_scale=tf.constant(scale)
    )


def negative_log(*probabilities):
    return -np.mean(np.log(probabilities))


def test_scores_are_scaled_dot_products_of_every_input_with_every_response():
    encoded = Encoded(
        inputs=tf.constant([[1.0, 0.0], [0.0, 1.0]]),
        responses=tf.constant([[1.0, 2.0], [3.0, 4.0]]),
        score_scale=tf.constant(10.0),
    )
    scored = losses.in_batch_softmax(encoded, PAPER)
    np.testing.assert_array_equal(scored.scores, [[10, 30], [20, 40]])
    np.testing.assert_array_equal(scored.labels, [0, 1])
    # log(e^10 + e^30) - 10 and log(e^20 + e^40) - 40
    expected = (np.logaddexp(10, 30) - 10 + np.logaddexp(20, 40) - 40) / 2
    np.testing.assert_allclose(scored.loss, expected, rtol=1e-6)


@pytest.mark.parametrize(
    ("scale", "both_directions", "probabilities"),
    [
        (1.0, False, (2 / 3, 1 / 3)),  # 4 and 2 are halved
        (1.0, True, (2 / 3, 1 / 3, 2 / 4, 1 / 2)),
        (2.0, False, (4 / 5, 1 / 5)),  # (4 / 2)^2 beside 1^2, (2 / 2)^2 beside 2^2
    ],
)
def test_the_margin_handicaps_the_true_pair_before_the_scale(scale, both_directions, probabilities):
    objective = schema.Objective(margin=np.log(2), both_directions=both_directions)
    encoded = dots([4.0, 1.0], [2.0, 2.0], scale=scale)
    scored = losses.in_batch_softmax(encoded, objective)
    np.testing.assert_allclose(scored.loss, negative_log(*probabilities), rtol=1e-6)
    plain = losses.in_batch_softmax(encoded, PAPER)
    np.testing.assert_array_equal(scored.scores, plain.scores)


@pytest.mark.parametrize(
    ("both_directions", "probabilities"),
    [
        # The first and the third response are one text: neither stands beside the other.
        (False, (3 / (3 + 1), 4 / (2 + 4 + 2), 5 / (1 + 5))),
        # The first two inputs are one text.
        (True, (3 / 4, 4 / 8, 5 / 6, 3 / (3 + 7), 4 / (4 + 1), 5 / (6 + 2 + 5))),
    ],
)
def test_copies_of_the_true_text_are_no_negatives(both_directions, probabilities):
    objective = schema.Objective(mask_duplicates=True, both_directions=both_directions)
    keys = losses.Keys(
        inputs=tf.constant([7, 7, 8], tf.int64), responses=tf.constant([1, 2, 1], tf.int64)
    )
    encoded = dots([3.0, 1.0, 6.0], [2.0, 4.0, 2.0], [7.0, 1.0, 5.0])
    scored = losses.in_batch_softmax(encoded, objective, keys=keys)
    np.testing.assert_allclose(scored.loss, negative_log(*probabilities), rtol=1e-6)
    masked = np.isneginf(scored.scores)
    np.testing.assert_array_equal(masked, [[0, 0, 1], [0, 0, 0], [1, 0, 0]])


def test_a_batch_of_one_text_teaches_nothing_and_breaks_nothing():
    objective = schema.Objective(mask_duplicates=True, both_directions=True, margin=0.3)
    same = tf.constant([5, 5], tf.int64)
    vectors, scale = tf.ones([2, 3]), tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch([vectors, scale])
        encoded = Encoded(inputs=vectors, responses=vectors, score_scale=scale)
        loss = losses.in_batch_softmax(encoded, objective, keys=losses.Keys(same, same)).loss
    assert float(loss) == 0
    for gradient in tape.gradient(loss, [vectors, scale]):
        np.testing.assert_array_equal(gradient, tf.zeros_like(gradient))


def test_a_pair_that_does_not_count_is_a_candidate_only():
    """As of NLI's pairs those that are entailed."""
    objective = schema.Objective(both_directions=True)
    encoded = dots([3.0, 1.0, 4.0], [2.0, 2.0, 1.0], [5.0, 1.0, 9.0])
    counted = tf.constant([True, False, True])
    loss = losses.in_batch_softmax(encoded, objective, counted=counted).loss
    # 3 of 3 + 1 + 4 in its row, of 3 + 2 + 5 in its column; 9 of 15 and of 14.
    expected = negative_log(3 / 8, 3 / 10, 9 / 15, 9 / 14)
    np.testing.assert_allclose(loss, expected, rtol=1e-6)
    assert losses.in_batch_softmax(encoded, PAPER, counted=tf.zeros([3], bool)).loss == 0


def test_ranks_by_hand():
    scored = losses.Scored(
        loss=tf.constant(0.0),
        scores=tf.constant([[5.0, 6.0, 4.0, 5.0], [1.0, 2.0, 3.0, 9.0], [7.0, 7.0, 8.0, 0.0]]),
        labels=tf.constant([0, 3, 2]),
    )
    # 6 beats 5 and another 5 does too; nothing beats 9 or 8.
    np.testing.assert_array_equal(losses.ranks(scored), [2, 0, 0])
    assert losses.ranks(scored).dtype == tf.int32
    shifted = scored._replace(labels=tf.constant([2, 0, 3]))
    np.testing.assert_array_equal(losses.ranks(shifted), [3, 3, 3])
    unknown = scored._replace(
        scores=tf.constant([[np.nan] * 3, [1.0, np.nan, 2.0]]), labels=tf.constant([0, 2])
    )
    np.testing.assert_array_equal(losses.ranks(unknown), [2, 1])

"""The in-batch softmax, by hand."""

import numpy as np
import tensorflow as tf

from model import losses
from model.dual_encoder import Encoded


def test_scores_are_scaled_dot_products_of_every_input_with_every_response():
    encoded = Encoded(
        inputs=tf.constant([[1.0, 0.0], [0.0, 1.0]]),
        responses=tf.constant([[1.0, 2.0], [3.0, 4.0]]),
    )
    np.testing.assert_array_equal(losses.scores(encoded, 10.0), [[10, 30], [20, 40]])


def test_the_loss_is_the_mean_log_likelihood_of_the_diagonal():
    scores = tf.math.log([[3.0, 1.0], [2.0, 2.0]])
    # The true responses have probabilities 3/4 and 1/2.
    expected = -(np.log(3 / 4) + np.log(1 / 2)) / 2
    np.testing.assert_allclose(losses.in_batch_softmax(scores), expected, rtol=1e-6)

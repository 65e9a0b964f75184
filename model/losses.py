"""The loss of picking the true response among those of the batch."""

import tensorflow as tf

from model.dual_encoder import Encoded


def scores(encoded: Encoded, scale: float) -> tf.Tensor:
    """Dot products of every input with every response of the batch: float32 [batch, batch]."""
    return scale * tf.matmul(encoded.inputs, encoded.responses, transpose_b=True)


def true_responses(score_matrix: tf.Tensor) -> tf.Tensor:
    """Each input's true response is the one in its own row: int32 [batch]."""
    return tf.range(tf.shape(score_matrix)[0])


def in_batch_softmax(score_matrix: tf.Tensor) -> tf.Tensor:
    """Mean negative log-likelihood of the true responses (section 2.2): float32 scalar."""
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(
        labels=true_responses(score_matrix), logits=score_matrix
    )
    return tf.reduce_mean(losses)

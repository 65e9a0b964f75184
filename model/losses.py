"""The losses of response selection, of NLI and of a teacher.

The in-batch softmax picks the true response among those of the batch (section 2.2).
"""

from functools import partial
from typing import NamedTuple

import tensorflow as tf

from model.configs import schema
from model.layers import nli_head

LOSS = "training_loss"
"""The log entry of the loss, as Orbit and the Model Garden name it."""
GRADIENT_NORM = "norm/gradient"
"""A step's log entry beside the loss: the global norm of the gradient, before clipping."""


class Encoded(NamedTuple):
    """Both sides of a batch of pairs, float32 [batch, embedding_dim], and how they score."""

    inputs: tf.Tensor
    """u, of unit length."""
    responses: tf.Tensor
    """v' of figure 3: scores are scaled dot products of u and v'."""
    score_scale: tf.Tensor
    """What the dot products are multiplied by: float32 scalar."""


class Keys(NamedTuple):
    """Hashes of a batch's texts, int64 [batch]: equal for equal texts."""

    inputs: tf.Tensor
    responses: tf.Tensor


class Scored(NamedTuple):
    """Scores of all responses for each input of this replica."""

    loss: tf.Tensor
    """Mean over the replica's pairs: float32 scalar."""
    scores: tf.Tensor
    """float32 [batch, responses], without the margin; the responses of all replicas if those are
    negatives."""
    labels: tf.Tensor
    """Column of each input's true response: int32 [batch]."""


def in_batch_softmax(
    encoded: Encoded,
    objective: schema.Objective,
    *,
    keys: Keys | None = None,
    counted: tf.Tensor | None = None,
) -> Scored:
    """Mean negative log-likelihood of the true responses; called in replica context.

    The caller divides the loss by the number of replicas and sums gradients over them.

    Args:
      encoded: the pairs of this replica.
      objective: options of the loss.
      keys: hashes of the same pairs, for `mask_duplicates`.
      counted: bool [batch], the pairs whose likelihoods are averaged: 0 if there are none. The
        others are candidates only. None counts all.
    """
    inputs, responses = (tf.cast(side, tf.float32) for side in (encoded.inputs, encoded.responses))
    replicas = tf.distribute.get_strategy().num_replicas_in_sync
    across = objective.negatives_across_replicas and replicas > 1
    gather = _gather if across else tf.identity
    softmax = partial(
        _cross_entropy,
        across=across,
        scale=encoded.score_scale,
        objective=objective,
        counted=counted,
    )
    products = tf.matmul(inputs, gather(responses), transpose_b=True)
    scored = softmax(products, keys=keys and keys.responses)
    if not objective.both_directions:
        return scored
    if across:
        products = tf.matmul(responses, gather(inputs), transpose_b=True)
    else:
        products = tf.transpose(products)
    backward = softmax(products, keys=keys and keys.inputs)
    return scored._replace(loss=(scored.loss + backward.loss) / 2)


def _cross_entropy(
    products: tf.Tensor,
    *,
    across: bool,
    keys: tf.Tensor | None,
    scale: tf.Tensor,
    objective: schema.Objective,
    counted: tf.Tensor | None,
) -> Scored:
    """Row i of the dot products, float32 [batch, candidates], belongs to candidate i.

    Candidate i of this replica, if there are those of all (`across`). `keys` are its candidates'.
    """
    batch = tf.shape(products)[0]
    labels = tf.range(batch)
    if across:
        replica = tf.distribute.get_replica_context().replica_id_in_sync_group
        labels += tf.cast(replica, tf.int32) * batch
    scores = scale * products
    is_true = labels[:, tf.newaxis] == tf.range(tf.shape(scores)[1])
    if objective.mask_duplicates:
        of_all = _gather(keys) if across else keys
        copies = (keys[:, tf.newaxis] == of_all) & ~is_true  # type: ignore[index]
        scores = tf.where(copies, -float("inf"), scores)
    # Before the scale, as in the Model Garden's MatMulWithMargin: the margin is in units of a
    # cosine, and a learned scale cannot outgrow it.
    logits = scores - scale * objective.margin * tf.cast(is_true, tf.float32)
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    if counted is None:
        return Scored(tf.reduce_mean(losses), scores, labels)
    weights = tf.cast(counted, losses.dtype)
    loss = tf.math.divide_no_nan(tf.reduce_sum(losses * weights), tf.reduce_sum(weights))
    return Scored(loss, scores, labels)


def _gather(rows: tf.Tensor) -> tf.Tensor:
    """[batch, ...] of each replica -> [global batch, ...], in the order of the replicas.

    Differentiable: the gradients of a row from all replicas' losses are summed on the replica
    that it came from. One tensor a call: the gradient of several fails if their shapes differ.
    """
    return tf.distribute.get_replica_context().all_gather(tf.identity(rows), axis=0)


def ranks(scored: Scored) -> tf.Tensor:
    """Rank of each true response, 0 the best: int32 [batch].

    A tie counts against the model, and so does a score that is not a number: otherwise equal
    embeddings, or none at all, would be perfect.
    """
    true = tf.gather(scored.scores, scored.labels, batch_dims=1)
    worse = scored.scores < true[:, tf.newaxis]
    return tf.reduce_sum(tf.cast(~worse, tf.int32), axis=1) - 1


def matrix_cross_entropy(student: tf.Tensor, teacher: tf.Tensor, *, scale: float) -> tf.Tensor:
    """How far a student's cosines of a batch's texts are from a teacher's: float32 scalar.

    For each text, the cosines with the batch's other texts, times `scale`, go through a softmax;
    the mean cross-entropy from the teacher's distributions to the student's (Passalis and Tefas
    2018, equations 4 to 6, with cosines in the exponent). Both have rows of unit length, float32
    [batch, any dim], of 2 texts or more.
    """
    target, found = (
        _of_others(scale * tf.matmul(e, e, transpose_b=True)) for e in (teacher, student)
    )
    losses = tf.nn.softmax_cross_entropy_with_logits(labels=tf.nn.softmax(target), logits=found)
    return tf.reduce_mean(losses)


def _of_others(square: tf.Tensor) -> tf.Tensor:
    """Without the diagonal: [batch, batch] -> [batch, batch - 1]."""
    batch = tf.shape(square)[0]
    # Row by row, after the first number each diagonal one ends a run of `batch` others.
    rows = tf.reshape(tf.reshape(square, [-1])[1:], [batch - 1, batch + 1])
    return tf.reshape(rows[:, :-1], [batch, batch - 1])


class Classified(NamedTuple):
    """How well the replica's pairs were classified; means, float32 scalars."""

    loss: tf.Tensor
    accuracy: tf.Tensor


def nli_softmax(logits: tf.Tensor, labels: tf.Tensor, *, smoothing: float = 0.0) -> Classified:
    """Mean cross-entropy of the members, and the accuracy of their averaged probabilities.

    Each member has its own loss and learns the whole task; averaging cancels individual
    overfitting.

    Of logits, float32 [batch, members, 3], and indices in `tfrecord.LABELS`, integers [batch];
    all labels share `smoothing` of a label's probability (Szegedy et al. 2016, section 7).
    """
    labels = tf.repeat(labels[:, tf.newaxis], logits.shape[1], axis=1)
    of_gold = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    of_all = -tf.reduce_mean(tf.nn.log_softmax(logits), axis=-1)
    smoothed = (1 - smoothing) * of_gold + smoothing * of_all
    predicted = tf.argmax(nli_head.probabilities(logits), axis=-1)
    right = tf.equal(predicted, tf.cast(labels[:, 0], tf.int64))
    return Classified(
        loss=tf.reduce_mean(smoothed), accuracy=tf.reduce_mean(tf.cast(right, tf.float32))
    )

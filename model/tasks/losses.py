"""The loss of picking the true response among those of the batch (section 2.2)."""

from typing import NamedTuple

import tensorflow as tf

from model.configs import schema


class Encoded(NamedTuple):
    """Both sides of a batch of pairs, float32 [batch, embedding_dim], and how they score."""

    inputs: tf.Tensor
    """u, of unit length."""
    responses: tf.Tensor
    """v' of figure 3: scores are scaled dot products of u and v'."""
    score_scale: tf.Tensor
    """What the dot products are multiplied by: float32 scalar."""


class Keys(NamedTuple):
    """Fingerprints of a batch's texts, int64 [batch]: equal for equal texts."""

    inputs: tf.Tensor
    responses: tf.Tensor


class Scored(NamedTuple):
    """What the replica's inputs made of the responses; `scores` and `labels` give P@1."""

    loss: tf.Tensor
    """Mean over the replica's pairs: float32 scalar."""
    scores: tf.Tensor
    """float32 [batch, responses], with the responses of all replicas where they are negatives.
    The margin is not in it: it makes training harder, and would hide what the model picks."""
    labels: tf.Tensor
    """The column of each input's true response: int32 [batch]."""


def in_batch_softmax(
    encoded: Encoded, objective: schema.Objective, *, keys: Keys | None = None
) -> Scored:
    """Mean negative log-likelihood of the true responses; in replica context.

    The caller divides the loss by the number of replicas, and sums the gradients over them.

    Args:
      encoded: the pairs of this replica, any float type; scores are float32.
      objective: the paper's by default.
      keys: of the same pairs; only `mask_duplicates` needs them.
    """
    if objective.mask_duplicates and keys is None:
        raise ValueError("mask_duplicates needs the keys of the texts")
    inputs = _Side(tf.cast(encoded.inputs, tf.float32), keys and keys.inputs)
    responses = _Side(tf.cast(encoded.responses, tf.float32), keys and keys.responses)
    scale = encoded.score_scale
    scored = _pick(inputs.vectors, responses, scale=scale, objective=objective)
    if not objective.both_directions:
        return scored
    backward = _pick(responses.vectors, inputs, scale=scale, objective=objective)
    return scored._replace(loss=(scored.loss + backward.loss) / 2)


class _Side(NamedTuple):
    """The inputs or the responses: float32 [batch, embedding_dim] and int64 [batch]."""

    vectors: tf.Tensor
    keys: tf.Tensor | None


def _pick(
    queries: tf.Tensor, own: _Side, *, scale: tf.Tensor, objective: schema.Objective
) -> Scored:
    """Each query, float32 [batch, embedding_dim], picks its own row of the other side."""
    across = objective.negatives_across_replicas and _replicas() > 1
    gather = _gather if across else tf.identity
    batch = tf.shape(queries)[0]
    labels = tf.range(batch) + (_replica() * batch if across else 0)
    scores = scale * tf.matmul(queries, gather(own.vectors), transpose_b=True)
    is_true = _equal(labels, tf.range(tf.shape(scores)[1]))
    if objective.mask_duplicates:
        copies = _equal(own.keys, gather(own.keys)) & ~is_true
        scores = tf.where(copies, -float("inf"), scores)
    # Before the scale, as in Model Garden's MatMulWithMargin: so a margin is a part of a cosine
    # whatever the scale, and a learned scale cannot outgrow it.
    logits = scores - scale * objective.margin * tf.cast(is_true, tf.float32)
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    return Scored(loss=tf.reduce_mean(losses), scores=scores, labels=labels)


def _equal(rows: tf.Tensor, columns: tf.Tensor) -> tf.Tensor:
    """[rows], [columns] -> bool [rows, columns]."""
    return rows[:, tf.newaxis] == columns


def _replicas() -> int:
    return tf.distribute.get_strategy().num_replicas_in_sync


def _replica() -> tf.Tensor:
    """The number of this replica: int32 scalar."""
    return tf.cast(tf.distribute.get_replica_context().replica_id_in_sync_group, tf.int32)


def _gather(rows: tf.Tensor) -> tf.Tensor:
    """[batch, ...] of each replica -> [batch of all, ...], in the order of the replicas.

    The gradient of a row is the sum of what it is in all replicas' losses, and goes to the
    replica that the row came from. One tensor a call: the gradient of several at once fails
    where their shapes differ.
    """
    return tf.distribute.get_replica_context().all_gather(tf.identity(rows), axis=0)


def places(scored: Scored) -> tf.Tensor:
    """How many responses score as high as each input's true one, or higher: int32 [batch].

    0 is the first place. A tie counts against the model: else equal embeddings would win.
    """
    true = tf.gather(scored.scores, scored.labels, batch_dims=1)
    return tf.reduce_sum(tf.cast(scored.scores >= true[:, tf.newaxis], tf.int32), axis=1) - 1

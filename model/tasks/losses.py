"""In-batch softmax: picking the true response among those of the batch (section 2.2)."""

from typing import NamedTuple

import tensorflow as tf

from model.configs import schema

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
    encoded: Encoded, objective: schema.Objective, *, keys: Keys | None = None
) -> Scored:
    """Mean negative log-likelihood of the true responses; called in replica context.

    The caller divides the loss by the number of replicas and sums gradients over them.

    Args:
      encoded: the pairs of this replica.
      objective: options of the loss.
      keys: hashes of the same pairs; `mask_duplicates` needs them.

    Raises:
      ValueError: if `mask_duplicates` is set and `keys` is None.
    """
    if objective.mask_duplicates and keys is None:
        raise ValueError("mask_duplicates needs the keys of the texts")
    inputs = _Texts(tf.cast(encoded.inputs, tf.float32), keys and keys.inputs)
    responses = _Texts(tf.cast(encoded.responses, tf.float32), keys and keys.responses)
    scale = encoded.score_scale
    scored = _cross_entropy(inputs.vectors, responses, scale=scale, objective=objective)
    if not objective.both_directions:
        return scored
    backward = _cross_entropy(responses.vectors, inputs, scale=scale, objective=objective)
    return scored._replace(loss=(scored.loss + backward.loss) / 2)


def entailment_softmax(
    premises: tf.Tensor, hypotheses: tf.Tensor, entailed: tf.Tensor, *, scale: float
) -> tf.Tensor:
    """Mean negative log-likelihood of the entailed hypotheses and of their premises.

    The hypothesis that a premise entails is picked among all hypotheses of this replica's batch,
    also those that other premises entail, leave open or contradict (Gao et al. 2021, section 4),
    and the premise among all premises.

    Args:
      premises: of unit length, float32 [batch, embedding_dim].
      hypotheses: of unit length, float32 [batch, embedding_dim].
      entailed: bool [batch]; pairs that are False are candidates only.
      scale: factor of the cosines.

    Returns:
      float32 scalar; 0 if no pair is entailed.
    """
    scores = scale * tf.matmul(
        tf.cast(premises, tf.float32), tf.cast(hypotheses, tf.float32), transpose_b=True
    )
    labels = tf.range(tf.shape(scores)[0])
    losses = sum(
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
        for logits in (scores, tf.transpose(scores))
    )
    weights = tf.cast(entailed, tf.float32)
    return tf.math.divide_no_nan(tf.reduce_sum(losses * weights) / 2, tf.reduce_sum(weights))


class _Texts(NamedTuple):
    """The inputs or the responses: float32 [batch, embedding_dim] and int64 [batch]."""

    vectors: tf.Tensor
    keys: tf.Tensor | None


def _cross_entropy(
    queries: tf.Tensor, candidates: _Texts, *, scale: tf.Tensor, objective: schema.Objective
) -> Scored:
    """Row i of the queries, float32 [batch, embedding_dim], belongs to row i of the candidates."""
    across = objective.negatives_across_replicas and _replicas() > 1
    gather = _gather if across else tf.identity
    batch = tf.shape(queries)[0]
    labels = tf.range(batch) + (_replica() * batch if across else 0)
    scores = scale * tf.matmul(queries, gather(candidates.vectors), transpose_b=True)
    is_true = _equal(labels, tf.range(tf.shape(scores)[1]))
    if objective.mask_duplicates:
        copies = _equal(candidates.keys, gather(candidates.keys)) & ~is_true
        scores = tf.where(copies, -float("inf"), scores)
    # Before the scale, as in the Model Garden's MatMulWithMargin: the margin is in units of a
    # cosine, and a learned scale cannot outgrow it.
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
    """[batch, ...] of each replica -> [global batch, ...], in the order of the replicas.

    Differentiable: the gradients of a row from all replicas' losses are summed on the replica
    that it came from. One tensor a call: the gradient of several fails if their shapes differ.
    """
    return tf.distribute.get_replica_context().all_gather(tf.identity(rows), axis=0)


def ranks(scored: Scored) -> tf.Tensor:
    """Rank of each true response, 0 the best: int32 [batch].

    A tie counts against the model: otherwise equal embeddings would be perfect.
    """
    true = tf.gather(scored.scores, scored.labels, batch_dims=1)
    return tf.reduce_sum(tf.cast(scored.scores >= true[:, tf.newaxis], tf.int32), axis=1) - 1

"""One step of training: loss, gradients, update; the same for every strategy."""

from typing import Any

import tensorflow as tf
import tf_keras

from model.dual_encoder import DualEncoder
from model.tasks import Task

LOSS = "training_loss"
GRADIENT_NORM = "norm/gradient"


def names_of(task: Task) -> list[str]:
    """What the numbers say that a step returns."""
    return [LOSS, *task.metrics, GRADIENT_NORM]


def train(
    task: Task,
    batch: dict[str, Any],
    *,
    model: DualEncoder,
    optimizer: tf_keras.optimizers.legacy.Optimizer,
    measured: tf.Tensor,
) -> tf.Tensor:
    """Trains on a replica's part of a batch; in replica context.

    The replica's loss is the mean over its records, so a replica's gradients are divided by the
    number of replicas before the optimizer adds them up.

    Args:
      task: what the batch is for.
      batch: as the task parses it.
      model: the model.
      optimizer: the optimizer.
      measured: bool scalar, whether the norm of the gradient is wanted; else it is NaN.

    Returns:
      float32 [names], see `names_of`.
    """
    replicas = tf.distribute.get_strategy().num_replicas_in_sync
    with tf.GradientTape() as tape:
        outcome = task.outcome(model, batch, training=True)
        scaled = outcome.loss / replicas
        if isinstance(optimizer, tf_keras.mixed_precision.LossScaleOptimizer):
            scaled = optimizer.get_scaled_loss(scaled)
    variables = model.trainable_variables
    gradients = tape.gradient(scaled, variables)
    if isinstance(optimizer, tf_keras.mixed_precision.LossScaleOptimizer):
        gradients = optimizer.get_unscaled_gradients(gradients)
    # A task does not reach every variable.
    reached = [
        (gradient, variable)
        for gradient, variable in zip(gradients, variables, strict=True)
        if gradient is not None
    ]
    norm = tf.cond(
        measured,
        lambda: tf.linalg.global_norm([gradient for gradient, _ in reached]) * replicas,
        lambda: tf.constant(float("nan")),
    )
    optimizer.apply_gradients(reached)
    metrics = [outcome.metrics[name] for name in task.metrics]
    return tf.stack([outcome.loss, *metrics, norm])

"""One step of training: loss, gradients, update; the same for every strategy."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf
import tf_keras

from model.dual_encoder import DualEncoder
from model.tasks.tasks import Task

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
      measured: bool scalar, whether the norm of the gradient is wanted; else it is NaN. Rows of
        a table that both sides of a batch look up count as two.

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


def means(
    tasks: list[Task], of_steps: Sequence[int], values: Sequence[np.ndarray]
) -> dict[str, float]:
    """What some steps returned, by name: means, but for the norm, which is the last step's.

    Args:
      tasks: all tasks of the run.
      of_steps: the index of each step's task.
      values: what each step returned, float32 [names] and maybe more.
    """
    by_name: dict[str, list[float]] = {}
    for task, of_step in zip(of_steps, values, strict=True):
        for name, value in zip(names_of(tasks[task]), of_step, strict=False):
            by_name.setdefault(name, []).append(value)
    found = {name: float(np.mean(some)) for name, some in by_name.items()}
    found[GRADIENT_NORM] = float(np.nanmax(by_name[GRADIENT_NORM]))
    if len(tasks) > 1:
        found["nli_share"] = float(np.mean(of_steps))
    return found


def learning_rate(optimizer: tf_keras.optimizers.legacy.Optimizer) -> float:
    """What the schedule says now."""
    rate = optimizer.learning_rate
    if isinstance(rate, tf_keras.optimizers.schedules.LearningRateSchedule):
        rate = rate(optimizer.iterations)
    return float(rate.numpy())

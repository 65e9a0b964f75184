"""All that training changes: the weights, and what is saved beside them."""

from collections.abc import Sequence
from typing import NamedTuple

import orbit
import tensorflow as tf
import tf_keras
from official.core import base_task, config_definitions

from model.training import optimizer
from model.training.ema import WeightAverage


class State(NamedTuple):
    """What a checkpoint holds. The position in the data is not in it: it follows from the step."""

    model: tf_keras.Model
    optimizer: tf_keras.optimizers.legacy.Optimizer
    average: WeightAverage
    global_step: tf.Variable
    task_steps: list[tf.Variable]
    """Steps of each task with parameter servers, otherwise 0."""

    @property
    def step(self) -> int:
        """Number of steps done."""
        return int(self.global_step.numpy())


def make_state(
    params: config_definitions.ExperimentConfig,
    strategy: tf.distribute.Strategy,
    tasks: Sequence[base_task.Task],
    *,
    initialize: bool,
) -> State:
    """Makes the variables of a run, under its strategy.

    Args:
      params: the run's.
      strategy: where the variables live.
      tasks: the run's; the first builds the model.
      initialize: whether the run starts at step 0, from `task.init_checkpoint` or training texts;
        that folder may be gone by the time a run is resumed.

    Raises:
      InputError: if `task.init_checkpoint` cannot be used.
    """
    with strategy.scope():
        model = tasks[0].build_model()
        if initialize:
            tasks[0].initialize(model)
        built = optimizer.build(params)
        if isinstance(built, tf_keras.optimizers.Optimizer):
            # Otherwise it would have variables for those of the first task alone.
            built.build(model.trainable_variables)
        elif (
            isinstance(strategy, tf.distribute.ParameterServerStrategy)
            or params.trainer.async_checkpoints
        ):
            # Workers cannot make variables. What is saved beside training is copied first, but only
            # the variables of the first save.
            built._create_all_weights(model.trainable_variables)
        return State(
            model=model,
            optimizer=built,
            average=WeightAverage(model, params.trainer),
            global_step=orbit.utils.create_global_step(),
            task_steps=[
                tf.Variable(0, dtype=tf.int64, trainable=False, name=f"steps_of_task_{task}")
                for task in range(len(tasks))
            ],
        )

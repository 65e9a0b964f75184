"""All that training changes: the weights, and what is saved beside them."""

from typing import NamedTuple

import orbit
import tensorflow as tf
import tf_keras
from official.core import config_definitions
from official.modeling import optimization, performance

from model import trained
from model.average import WeightAverage
from model.dual_encoder import DualEncoder, build


class State(NamedTuple):
    """What training changes. Where a run stands in its data follows from the step."""

    model: DualEncoder
    optimizer: tf_keras.optimizers.legacy.Optimizer
    average: WeightAverage
    global_step: tf.Variable
    task_steps: list[tf.Variable]
    """How many steps each task had where workers step each for itself, else 0."""


def make_state(
    params: config_definitions.ExperimentConfig,
    strategy: tf.distribute.Strategy,
    folder: str,
    *,
    tasks: int,
) -> State:
    """Makes the variables of a run, under its strategy.

    Args:
      params: the run's.
      strategy: where the variables are to be.
      folder: the model folder; a run that goes on from there has its own weights.
      tasks: how many the run has.

    Raises:
      InputError: if `task.init_checkpoint` cannot be used.
    """
    with strategy.scope():
        model = build(params.task.model, seed=params.task.seed)
        # The other run may be gone by the time this one goes on.
        if params.task.init_checkpoint and tf.train.latest_checkpoint(folder) is None:
            trained.initialize(model, params.task.init_checkpoint)
        factory = optimization.OptimizerFactory(params.trainer.optimizer_config)
        optimizer = performance.configure_optimizer(
            factory.build_optimizer(factory.build_learning_rate()),
            use_float16=params.runtime.mixed_precision_dtype == "float16",
            loss_scale=params.runtime.loss_scale,
        )
        if isinstance(strategy, tf.distribute.ParameterServerStrategy):
            # Workers cannot make variables.
            optimizer._create_all_weights(model.trainable_variables)
        return State(
            model=model,
            optimizer=optimizer,
            average=WeightAverage(model, params.trainer),
            global_step=orbit.utils.create_global_step(),
            task_steps=[
                tf.Variable(0, dtype=tf.int64, trainable=False, name=f"steps_of_task_{task}")
                for task in range(tasks)
            ],
        )

"""All that training changes: the weights, and what is saved beside them."""

from typing import NamedTuple

import orbit
import tensorflow as tf
import tf_keras
from official.core import config_definitions

from model.checkpoints import files, trained
from model.configs import schema
from model.dual_encoder import DualEncoder, build
from model.initializers import word_vectors
from model.tasks.tasks import Part
from model.training import optimizer
from model.training.ema import WeightAverage


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
    parts: list[Part],
) -> State:
    """Makes the variables of a run, under its strategy.

    Args:
      params: the run's.
      strategy: where the variables are to be.
      folder: the model folder; a run that goes on from there has its own weights.
      parts: the run's tasks.

    Raises:
      InputError: if `task.init_checkpoint` cannot be used.
    """
    with strategy.scope():
        model = build(params.task.model, seed=params.task.seed)
        # What it begins from may be gone by the time this one goes on.
        if files.last(folder) is None:
            _begin(model, params.task, parts)
        built = optimizer.build(params)
        if isinstance(strategy, tf.distribute.ParameterServerStrategy):
            # Workers cannot make variables.
            built._create_all_weights(model.trainable_variables)
        return State(
            model=model,
            optimizer=built,
            average=WeightAverage(model, params.trainer),
            global_step=orbit.utils.create_global_step(),
            task_steps=[
                tf.Variable(0, dtype=tf.int64, trainable=False, name=f"steps_of_task_{task}")
                for task in range(len(parts))
            ],
        )


def _begin(model: DualEncoder, task: schema.Training, parts: list[Part]) -> None:
    """What is done once to the initial weights."""
    if task.init_checkpoint:
        trained.initialize(model, task.init_checkpoint)
    elif isinstance(task, schema.ResponseSelection) and (
        task.word_cooccurrence_records or task.word_frequency_records
    ):
        word_vectors.begin(model, parts[0], task)

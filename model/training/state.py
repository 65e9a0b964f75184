"""One run: its parameters and tasks, all that training changes, and what watches it."""

from pathlib import Path
from typing import NamedTuple

import orbit
import tensorflow as tf
import tf_keras
from official.core import base_task, config_definitions

from model import optimizer
from model.checkpoints import files
from model.checkpoints.manager import BestCheckpoint, Checkpoints
from model.checkpoints.record import Record
from model.data.task_sampler import TaskSampler
from model.ema import WeightAverage
from model.training.monitoring import LearningCheck
from model.training.signals import Signals


class State(NamedTuple):
    """What a checkpoint holds. The position in the data is not in it: it follows from the step."""

    model: tf_keras.Model
    optimizer: tf_keras.optimizers.legacy.Optimizer
    average: WeightAverage
    global_step: tf.Variable
    task_steps: list[tf.Variable]
    """Steps of each task with parameter servers, otherwise 0."""


class Run(NamedTuple):
    """One run and its parts."""

    params: config_definitions.ExperimentConfig
    mode: str
    folder: Path
    """`--model_dir`."""
    strategy: tf.distribute.Strategy
    tasks: list[base_task.Task]
    record: Record
    """What the run knows of itself."""
    sampler: TaskSampler
    state: State
    checkpoints: Checkpoints
    best: BestCheckpoint
    check: LearningCheck
    signals: Signals

    @property
    def step(self) -> int:
        """Number of steps done."""
        return int(self.state.global_step.numpy())

    @property
    def last_checkpoint(self) -> str | None:
        """The one to resume from; workers other than the chief keep none of their own."""
        return files.last(self.folder)

    def close(self) -> None:
        """Removes temporary checkpoints."""
        self.checkpoints.close()
        self.best.close()


def make_state(
    params: config_definitions.ExperimentConfig,
    strategy: tf.distribute.Strategy,
    tasks: list[base_task.Task],
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

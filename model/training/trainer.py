"""What both kinds of training share: a loop of steps, its checks and its logs."""

import abc
import signal
import time
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import orbit
import tensorflow as tf
import tf_keras
from official.core import base_task

from model.data import input_pipeline
from model.errors import TrainingError
from model.losses import GRADIENT_NORM, LOSS
from model.training.signals import stopped_by
from model.training.state import Run


class Step(NamedTuple):
    """A step that was done."""

    task: int
    """Index of its task."""
    values: np.ndarray
    """Its logs, as `stacked`; float32 [2 + metrics or more]."""
    ids: str = ""
    """Ids of its records, if its loss is not finite and the worker has told them."""


class Trainer(orbit.AbstractTrainer, abc.ABC):
    """Trains the tasks of a run on one model, called by Orbit for each loop."""

    def __init__(self, run: Run):
        self._run = run
        self._tasks, self._sampler, self._state = run.tasks, run.sampler, run.state
        self._strategy, self._signals = run.strategy, run.signals
        self._sources = input_pipeline.make_sources(run.tasks, seed=run.sampler.seed)

    def train(self, num_steps: tf.Tensor) -> dict[str, float]:
        """Trains some steps.

        Returns:
          Means over these steps of `training_loss`, the tasks' metrics and the share of each task
          but the first, such as `nli_share`; `norm/gradient` and `learning_rate` of the last step;
          `pairs_per_second`.

        Raises:
          StoppedError: if a signal to stop has arrived; the steps until then are done.
          TrainingError: if a loss is not finite.
          InputError: if a record cannot be read.
        """
        start, began = self._run.step, time.monotonic()
        try:
            steps, stop = self._take_steps(start, int(num_steps))
        except (tf.errors.DataLossError, tf.errors.InvalidArgumentError) as error:
            raise input_pipeline.find_damage(self._sources, self._tasks) or error from error
        for before, step in enumerate(steps, start):
            if not np.isfinite(step.values[0]):
                raise TrainingError(
                    f"the loss of step {before + 1} is {step.values[0]}; its batch of "
                    f"{self._tasks[step.task].name} has the records {self._ids(step, before)}"
                )
        if stop is not None:
            raise stopped_by(stop)
        records = sum(self._sampler.batch_size(step.task, start) for step in steps)
        return means(self._tasks, steps) | {
            "learning_rate": learning_rate(self._state.optimizer),
            "pairs_per_second": records / (time.monotonic() - began),
        }

    @abc.abstractmethod
    def _take_steps(self, start: int, count: int) -> tuple[list[Step], signal.Signals | None]:
        """Does steps; returns them, and the signal to stop that ended them, if one has."""

    @abc.abstractmethod
    def _ids(self, step: Step, before: int) -> str:
        """The ids of a step's records; `before` is the number of steps before it."""


def stacked(task: base_task.Task, logs: dict[str, tf.Tensor]) -> tf.Tensor:
    """The logs of a training step in a fixed order: float32 [2 + metrics]."""
    return tf.stack([logs[name] for name in (task.loss, *task.metrics, GRADIENT_NORM)])


def means(tasks: Sequence[base_task.Task], steps: Sequence[Step]) -> dict[str, float]:
    """Logs of a loop: the mean of each value over its steps; of the gradient's norm, the last."""
    by_name: dict[str, list[float]] = {}
    for step in steps:
        names = (LOSS, *tasks[step.task].metrics, GRADIENT_NORM)
        for name, value in zip(names, step.values, strict=False):
            by_name.setdefault(name, []).append(value)
    logs = {name: float(np.mean(values)) for name, values in by_name.items()}
    logs[GRADIENT_NORM] = float(np.nanmax(by_name[GRADIENT_NORM]))
    drawn = np.array([step.task for step in steps])
    shares = {f"{task.name}_share": index for index, task in enumerate(tasks) if index}
    return logs | {name: float(np.mean(drawn == index)) for name, index in shares.items()}


def learning_rate(optimizer: tf_keras.optimizers.legacy.Optimizer) -> float:
    """The current learning rate."""
    if hasattr(optimizer, "_decayed_lr"):  # of legacy ones, with their own decay
        return float(optimizer._decayed_lr(tf.float32))
    rate = optimizer.learning_rate
    if isinstance(rate, tf_keras.optimizers.schedules.LearningRateSchedule):
        rate = rate(optimizer.iterations)
    return float(rate.numpy())

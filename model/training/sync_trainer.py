"""The loop of synchronous training, as Orbit's controller asks for it.

All replicas step together. Under the parameter server's strategy each worker steps for itself:
see `parameter_server`.
"""

import time
from collections.abc import Callable
from signal import SIGTERM
from typing import Any

import numpy as np
import orbit
import tensorflow as tf
import tf_keras

from model.data import input_pipeline
from model.data.task_sampler import Phase, Schedule
from model.dual_encoder import DualEncoder
from model.errors import TrainingError
from model.tasks.tasks import Part
from model.training import train_step as step
from model.training.ema import WeightAverage
from model.training.profiler import Profiler
from model.training.signals import Signals, stopped_by

_STEPS_BETWEEN_AGREEMENTS = 10
"""Workers tell each other as often whether one of them was told to stop."""


class Trainer(orbit.AbstractTrainer):
    """Trains the tasks of a run on one model, one task a step."""

    def __init__(
        self,
        parts: list[Part],
        *,
        schedule: Schedule,
        strategy: tf.distribute.Strategy,
        model: DualEncoder,
        optimizer: tf_keras.optimizers.legacy.Optimizer,
        average: WeightAverage,
        global_step: tf.Variable,
        signals: Signals,
        profiler: Profiler,
    ):
        self._parts = parts
        self._schedule = schedule
        self._strategy = strategy
        self._model = model
        self._optimizer = optimizer
        self._average = average
        self._global_step = global_step
        self._signals = signals
        self._profiler = profiler
        self._sources = input_pipeline.make_sources(parts, seed=schedule.seed)
        extended = strategy.extended
        workers = extended._num_workers if extended._in_multi_worker_mode() else 1
        input_pipeline.require_enough_files(self._sources, [workers] * len(parts))
        self._iterators: list[Any] = []
        self._steps = [self._make_step(part) for part in parts]

    def train(self, num_steps: tf.Tensor) -> dict[str, float]:
        """Trains some steps.

        Returns:
          Means over these steps: `training_loss` and the tasks' metrics, and for two tasks
          `nli_share`; `norm/gradient` and `learning_rate` at the last; `pairs_per_second`.

        Raises:
          StoppedError: if a signal said to stop; the steps up to then are done.
          TrainingError: if a loss is not finite.
          InputError: if a record cannot be read.
        """
        start, steps = int(self._global_step.numpy()), int(num_steps)
        began = time.monotonic()
        tasks = self._schedule.tasks(start, start + steps)
        values, is_stopped = self._train_on(tasks, start)
        self._require_finite(values, tasks, start)
        if is_stopped:
            raise stopped_by(self._signals.stop or SIGTERM)  # which another worker was told
        records = sum(self._schedule.batch_size(task, start) for task in tasks)
        return step.means([part.task for part in self._parts], tasks.tolist(), values) | {
            "learning_rate": step.learning_rate(self._optimizer),
            "pairs_per_second": records / (time.monotonic() - began),
        }

    def _train_on(self, tasks: np.ndarray, start: int) -> tuple[list[np.ndarray], bool]:
        """What each step returned, and whether a signal said to stop after the last of them."""
        if not self._iterators:
            self._iterators = [self._iterator(task, start) for task in range(len(self._parts))]
        values, is_stopped = [], False
        try:
            for number, task in enumerate(tasks, start + 1):
                measured = tf.constant(number == start + len(tasks))
                values.append(self._steps[task](self._iterators[task], measured))
                self._average.step(number)
                self._profiler.step(number)
                is_stopped = self._is_told_to_stop(number)
                if is_stopped:
                    break
            # Only now is waited for what the steps compute.
            return [value.numpy() for value in values], is_stopped
        except (tf.errors.DataLossError, tf.errors.InvalidArgumentError) as error:
            raise input_pipeline.what_is_wrong(self._sources, self._parts) or error from error

    def _make_step(self, part: Part) -> Callable[[Any, tf.Tensor], tf.Tensor]:
        @tf.function
        def train_step(iterator: Any, measured: tf.Tensor) -> tf.Tensor:
            def on_replica(batch: dict) -> tf.Tensor:
                return step.train(
                    part.task,
                    batch,
                    model=self._model,
                    optimizer=self._optimizer,
                    measured=measured,
                )

            values = self._strategy.run(on_replica, args=(next(iterator),))
            self._global_step.assign_add(1)
            return self._strategy.reduce(tf.distribute.ReduceOp.MEAN, values, axis=None)

        return train_step

    def _iterator(self, task: int, start: int) -> Any:
        def dataset_of_worker(context: tf.distribute.InputContext) -> tf.data.Dataset:
            self._context = context
            return input_pipeline.training_batches(
                self._sources[task],
                self._parts[task],
                schedule=self._schedule,
                task=task,
                start=start,
                context=context,
            )

        return iter(self._strategy.distribute_datasets_from_function(dataset_of_worker))

    def _is_told_to_stop(self, number: int) -> bool:
        """Whether any worker was; all workers come to the same answer at the same step."""
        if not self._strategy.extended._in_multi_worker_mode():
            return self._signals.stop is not None
        if number % _STEPS_BETWEEN_AGREEMENTS:
            return False
        return bool(self._any(tf.constant(self._signals.stop is not None)))

    @tf.function
    def _any(self, here: tf.Tensor) -> tf.Tensor:
        flags = self._strategy.run(lambda: tf.cast(here, tf.int32))
        return self._strategy.reduce(tf.distribute.ReduceOp.SUM, flags, axis=None) > 0

    def _require_finite(self, values: list[np.ndarray], tasks: np.ndarray, start: int) -> None:
        for number, (task, of_step) in enumerate(zip(tasks, values, strict=False), start):
            if not np.isfinite(of_step[0]):
                ids = ", ".join(self._ids(task, number))
                raise TrainingError(
                    f"the loss of step {number + 1} is {of_step[0]}; its batch of "
                    f"{self._parts[task].task.name} has the records {ids}"
                )

    def _ids(self, task: int, number: int) -> list[str]:
        """The ids of this worker's part of a batch, by the number of steps before it."""
        workers = self._context.num_input_pipelines
        position = self._schedule.records(task, before=number) // workers
        size = self._schedule.batch_size(task, number) // workers
        source = self._sources[task].part(self._context)
        (serialized,) = source.batches(position, [Phase(None, size)]).take(1)
        ids = input_pipeline.ids_of(self._parts[task].task, serialized).numpy()
        return [own_id.decode(errors="backslashreplace") for own_id in ids]

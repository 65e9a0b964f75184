"""The loop of synchronous training, called by Orbit: all replicas step together."""

import time
from collections.abc import Callable, Sequence
from signal import SIGTERM
from typing import Any

import numpy as np
import orbit
import tensorflow as tf
import tf_keras
from official.core import base_task

from model.data import input_pipeline
from model.data.task_sampler import Phase, TaskSampler
from model.errors import TrainingError
from model.training import monitoring
from model.training.ema import WeightAverage
from model.training.signals import Signals, stopped_by

_STEPS_BETWEEN_AGREEMENTS = 10
"""Workers exchange once in this many steps whether one of them was told to stop."""


class SynchronousTrainer(orbit.AbstractTrainer):
    """Trains the tasks of a run on one model, one task a step.

    Not an `orbit.StandardTrainer`: which task a step trains, and which records a step reads, must
    follow from the step alone for a resumed run to end with the same weights.
    """

    def __init__(
        self,
        tasks: Sequence[base_task.Task],
        *,
        sampler: TaskSampler,
        strategy: tf.distribute.Strategy,
        model: tf_keras.Model,
        optimizer: tf_keras.optimizers.legacy.Optimizer,
        average: WeightAverage,
        global_step: tf.Variable,
        signals: Signals,
    ):
        self._tasks = tasks
        self._sampler = sampler
        self._strategy = strategy
        self._model = model
        self._optimizer = optimizer
        self._average = average
        self._global_step = global_step
        self._signals = signals
        self._sources = input_pipeline.make_sources(tasks, seed=sampler.seed)
        extended = strategy.extended
        workers = extended._num_workers if extended._in_multi_worker_mode() else 1
        input_pipeline.require_enough_files(self._sources, [workers] * len(tasks))
        self._iterators: list[Any] = []
        self._steps = [self._make_step(task) for task in tasks]

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
        start, steps = int(self._global_step.numpy()), int(num_steps)
        began = time.monotonic()
        drawn = self._sampler.tasks(start, start + steps)
        values, is_stopped = self._train_on(drawn, start)
        self._require_finite(values, drawn, start)
        if is_stopped:
            raise stopped_by(self._signals.stop or SIGTERM)  # another worker got the signal
        records = sum(self._sampler.batch_size(index, start) for index in drawn)
        return monitoring.means(self._tasks, drawn.tolist(), values) | {
            "learning_rate": monitoring.learning_rate(self._optimizer),
            "pairs_per_second": records / (time.monotonic() - began),
        }

    def _train_on(self, drawn: np.ndarray, start: int) -> tuple[list[np.ndarray], bool]:
        """The logs of each step, and whether a signal to stop arrived during the last of them."""
        if not self._iterators:
            self._iterators = [self._iterator(index, start) for index in range(len(self._tasks))]
        values, is_stopped = [], False
        try:
            for number, index in enumerate(drawn, start + 1):
                is_last = tf.constant(number == start + len(drawn))
                values.append(self._steps[index](self._iterators[index], is_last))
                self._average.step(number)
                is_stopped = self._is_told_to_stop(number)
                if is_stopped:
                    break
            # The steps run asynchronously; this waits for them.
            return [value.numpy() for value in values], is_stopped
        except (tf.errors.DataLossError, tf.errors.InvalidArgumentError) as error:
            raise input_pipeline.find_damage(self._sources, self._tasks) or error from error

    def _make_step(self, task: base_task.Task) -> Callable[[Any, tf.Tensor], tf.Tensor]:
        @tf.function(autograph=False)
        def train_step(iterator: Any, is_last: tf.Tensor) -> tf.Tensor:
            def on_replica(batch: dict) -> tf.Tensor:
                logs = task.train_step(batch, self._model, self._optimizer, measure_norm=is_last)
                return monitoring.stacked(task, logs)

            values = self._strategy.run(on_replica, args=(next(iterator),))
            self._global_step.assign_add(1)
            return self._strategy.reduce(tf.distribute.ReduceOp.MEAN, values, axis=None)

        return train_step

    def _iterator(self, index: int, start: int) -> Any:
        def dataset_of_worker(context: tf.distribute.InputContext) -> tf.data.Dataset:
            self._context = context
            return input_pipeline.training_batches(
                self._sources[index],
                self._tasks[index],
                sampler=self._sampler,
                index=index,
                start=start,
                context=context,
            )

        return iter(self._strategy.distribute_datasets_from_function(dataset_of_worker))

    def _is_told_to_stop(self, number: int) -> bool:
        """Whether any worker was; all workers get the same answer at the same step."""
        if not self._strategy.extended._in_multi_worker_mode():
            return self._signals.stop is not None
        if number % _STEPS_BETWEEN_AGREEMENTS:
            return False
        return bool(self._any(tf.constant(self._signals.stop is not None)))

    @tf.function(autograph=False)
    def _any(self, here: tf.Tensor) -> tf.Tensor:
        flags = self._strategy.run(lambda: tf.cast(here, tf.int32))
        return self._strategy.reduce(tf.distribute.ReduceOp.SUM, flags, axis=None) > 0

    def _require_finite(self, values: list[np.ndarray], drawn: np.ndarray, start: int) -> None:
        for number, (index, of_step) in enumerate(zip(drawn, values, strict=False), start):
            if not np.isfinite(of_step[0]):
                ids = ", ".join(self._ids(index, number))
                raise TrainingError(
                    f"the loss of step {number + 1} is {of_step[0]}; its batch of "
                    f"{self._tasks[index].name} has the records {ids}"
                )

    def _ids(self, index: int, number: int) -> list[str]:
        """Record ids of this worker's part of a task's batch after `number` steps of the run."""
        workers = self._context.num_input_pipelines
        position = self._sampler.records(index, before=number) // workers
        size = self._sampler.batch_size(index, number) // workers
        source = self._sources[index].shard(self._context)
        (serialized,) = source.batches(position, [Phase(None, size)]).take(1)
        ids = input_pipeline.ids_of(self._tasks[index], serialized).numpy()
        return [own_id.decode(errors="backslashreplace") for own_id in ids]

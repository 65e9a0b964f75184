"""Synchronous training, and what asynchronous training shares: a loop, its checks and logs."""

import abc
import signal
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import orbit
import tensorflow as tf

from model.data import input_pipeline
from model.errors import StoppedError, TrainingError
from model.losses import GRADIENT_NORM, LOSS
from model.tasks.pair_task import PairTask
from model.training.state import Run

_NO_GRADIENT = 1e-9
"""A norm below this changes no weight but by rounding."""
_LEARNED = 1e-3
"""A loss below this may have no gradient left."""
_LOOPS = 3
"""A run fails if at least so many loops at its end have no gradient."""
_STEPS_BETWEEN_AGREEMENTS = 10
"""Workers exchange once in this many steps whether one of them was told to stop."""


class Step(NamedTuple):
    """A step that was done."""

    task: int
    """Index of its task."""
    values: np.ndarray
    """Loss, its task's metrics and gradient norm, then 0: float32 [2 + most metrics of a task]."""


class Trainer(orbit.AbstractTrainer, abc.ABC):
    """Trains the tasks of a run on one model, called by Orbit for each loop."""

    def __init__(self, run: Run):
        self._run = run
        self._tasks, self._sampler, self._state = run.tasks, run.sampler, run.state
        self._strategy, self._signals = run.strategy, run.signals
        self._most_metrics = max(len(task.metrics) for task in run.tasks)
        self._without_gradient = 0
        self.failure = ""
        """Why training is of no use any more; empty if it is."""
        self.logs: dict[str, float] = {}
        """Of the last loop; empty before the first."""
        seed = run.sampler.seed
        self._sources = [input_pipeline.make_source(task.train, seed=seed) for task in run.tasks]

    def _train_step(self, task: PairTask, batch: dict[str, Any], is_last: tf.Tensor) -> tf.Tensor:
        """Trains on a replica's batch; returns the values of a `Step`."""
        model, optimizer = self._state.model, self._state.optimizer
        logs = task.train_step(
            batch,
            model,
            optimizer,
            measure_norm=is_last,
            exchange_dtype=self._run.params.runtime.exchange_dtype,
        )
        values = tf.stack([logs[name] for name in (task.loss, *task.metrics, GRADIENT_NORM)])
        return tf.pad(values, [[0, self._most_metrics - len(task.metrics)]])

    def _require_enough_files(self, workers: Sequence[int]) -> None:
        """Raises InputError as `Source.shard` if a worker of a task has no files to read."""
        for source, count in zip(self._sources, workers, strict=True):
            for worker in range(count):
                source.shard(tf.distribute.InputContext(count, worker, count))

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
            damaged = (task.train.damage() for task in self._tasks)
            raise next(filter(None, damaged), error) from error
        for before, step in enumerate(steps, start):
            if not np.isfinite(step.values[0]):
                raise TrainingError(
                    f"the loss of step {before + 1}, of {self._tasks[step.task].name}, is "
                    f"{step.values[0]}"
                )
        if stop is not None:
            raise StoppedError(stop)
        self.logs = logs = means(self._tasks, steps)
        self._note_gradient(logs[GRADIENT_NORM], logs[LOSS])
        records = sum(self._sampler.batch_size(step.task, start) for step in steps)
        return logs | {
            "learning_rate": float(self._state.optimizer._decayed_lr(tf.float32)),
            "pairs_per_second": records / (time.monotonic() - began),
        }

    def _note_gradient(self, norm: float, loss: float) -> None:
        has_none = norm < _NO_GRADIENT and loss > _LEARNED
        self._without_gradient = self._without_gradient + 1 if has_none else 0
        self.failure = ""
        if self._without_gradient >= _LOOPS:
            self.failure = (
                f"the loss is {loss:.4g} at step {self._run.step} and has no gradient: nothing is "
                "learned any more; a lower rate may help"
            )
        if self._without_gradient == _LOOPS:
            print(f"warning: {self.failure}")

    @abc.abstractmethod
    def _take_steps(self, start: int, count: int) -> tuple[list[Step], signal.Signals | None]:
        """Does steps; returns them, and the signal to stop that ended them, if one has."""


class SynchronousTrainer(Trainer):
    """Trains one task a step; all replicas step together.

    Not an `orbit.StandardTrainer`: which task a step trains, and which records a step reads, must
    follow from the step alone for a resumed run to end with the same weights.
    """

    def __init__(self, run: Run):
        super().__init__(run)
        self._in_cluster = self._strategy.extended._in_multi_worker_mode()
        workers = self._strategy.extended._num_workers if self._in_cluster else 1
        self._require_enough_files([workers] * len(self._tasks))
        self._iterators: list[Any] = []
        self._steps = [self._make_step(task) for task in self._tasks]

    def _take_steps(self, start: int, count: int) -> tuple[list[Step], signal.Signals | None]:
        if not self._iterators:
            self._iterators = [self._iterator(index, start) for index in range(len(self._tasks))]
        drawn = self._sampler.tasks(start, start + count).tolist()
        values, is_stopped = [], False
        for number, index in enumerate(drawn, start + 1):
            is_last = tf.constant(number == start + count)
            values.append(self._steps[index](self._iterators[index], is_last))
            self._state.average.step(number)
            is_stopped = self._is_told_to_stop(number)
            if is_stopped:
                break
        # The steps run asynchronously; this waits for them.
        steps = [
            Step(index, value) for index, value in zip(drawn, self._means(values), strict=False)
        ]
        # Another worker may have got the signal.
        return steps, (self._signals.stop or signal.SIGTERM) if is_stopped else None

    def _make_step(self, task: PairTask) -> Callable[[Any, tf.Tensor], tuple[tf.Tensor, ...]]:
        @tf.function(autograph=False)
        def train_step(iterator: Any, is_last: tf.Tensor) -> tuple[tf.Tensor, ...]:
            values = self._strategy.run(self._train_step, args=(task, next(iterator), is_last))
            self._state.global_step.assign_add(1)
            return self._strategy.experimental_local_results(values)

        return train_step

    def _means(self, values: Sequence[tuple[tf.Tensor, ...]]) -> np.ndarray:
        """Values of this worker's replicas for each step -> means over all: [steps, values].

        Exchanged once a loop.
        """
        found = np.array([np.mean([each.numpy() for each in step], axis=0) for step in values])
        return self._mean(tf.constant(found)).numpy() if self._in_cluster else found

    def _iterator(self, index: int, start: int) -> Any:
        def dataset_of_worker(context: tf.distribute.InputContext) -> tf.data.Dataset:
            return input_pipeline.training_batches(
                self._sources[index],
                self._tasks[index].parse,
                sampler=self._sampler,
                index=index,
                start=start,
                context=context,
            )

        return iter(self._strategy.distribute_datasets_from_function(dataset_of_worker))

    def _is_told_to_stop(self, number: int) -> bool:
        """Whether any worker was; all workers get the same answer at the same step."""
        if not self._in_cluster:
            return self._signals.stop is not None
        if number % _STEPS_BETWEEN_AGREEMENTS:
            return False
        return bool(self._any(tf.constant(self._signals.stop is not None)))

    @tf.function(autograph=False, reduce_retracing=True)
    def _mean(self, here: tf.Tensor) -> tf.Tensor:
        values = self._strategy.run(lambda: tf.identity(here))
        return self._strategy.reduce(tf.distribute.ReduceOp.MEAN, values, axis=None)

    @tf.function(autograph=False)
    def _any(self, here: tf.Tensor) -> tf.Tensor:
        flags = self._strategy.run(lambda: tf.cast(here, tf.int32))
        return self._strategy.reduce(tf.distribute.ReduceOp.SUM, flags, axis=None) > 0


def means(tasks: Sequence[PairTask], steps: Sequence[Step]) -> dict[str, float]:
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

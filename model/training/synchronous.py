"""Synchronous training: all replicas step together."""

import signal
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from model.data import input_pipeline
from model.tasks.pair_task import PairTask
from model.training.state import Run
from model.training.trainer import Step, Trainer

_STEPS_BETWEEN_AGREEMENTS = 10
"""Workers exchange once in this many steps whether one of them was told to stop."""


class SynchronousTrainer(Trainer):
    """Trains one task a step.

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

"""The loop of asynchronous training: variables on parameter servers, each worker steps alone.

As in the paper (section 3.1), a share of the workers trains NLI and the others response selection;
likewise with a teacher.
Each worker reads its own files; a step is one worker's batch.
"""

import logging
import time
from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np
import orbit
import tensorflow as tf
import tf_keras
from official.core import base_task

from model.data import input_pipeline
from model.data.task_sampler import Phase, TaskSampler
from model.distribute import cluster
from model.errors import InputError, TrainingError
from model.training import monitoring
from model.training.signals import Signals

_STEPS_AHEAD = 10
"""Steps queued for each worker; a signal to stop waits for them."""


class AsynchronousTrainer(orbit.AbstractTrainer):
    """Schedules steps on the workers and waits for them once a loop."""

    def __init__(
        self,
        tasks: Sequence[base_task.Task],
        *,
        sampler: TaskSampler,
        strategy: tf.distribute.ParameterServerStrategy,
        model: tf_keras.Model,
        optimizer: tf_keras.optimizers.legacy.Optimizer,
        global_step: tf.Variable,
        task_steps: list[tf.Variable],
        signals: Signals,
    ):
        self._tasks = tasks
        self._sampler = sampler
        self._strategy = strategy
        self._model = model
        self._optimizer = optimizer
        self._global_step = global_step
        self._task_steps = task_steps
        self._signals = signals
        self._sources = input_pipeline.make_sources(tasks, seed=sampler.seed)
        tf.get_logger().addFilter(_print_in_a_line)
        self._coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)
        # No public API gives workers different data.
        self._workers = self._coordinator._cluster.workers
        self._task_of = tasks_of_workers(len(self._workers), sampler.shares)
        counts = [self._task_of.count(index) for index in range(len(tasks))]
        input_pipeline.require_enough_files(self._sources, counts)
        self._batch_sizes: list[int] = []
        self._iterator: Any = None
        self._step = self._make_step()

    def train(self, num_steps: tf.Tensor) -> dict[str, float]:
        """Trains some steps, each on any worker that is free.

        Returns:
          As `SynchronousTrainer.train`; shares such as `nli_share` are the actual ones.

        Raises:
          StoppedError: if a signal to stop has arrived; the queued steps are done.
          TrainingError: if a loss is not finite.
          InputError: if a record cannot be read.
        """
        start = int(self._global_step.numpy())
        self._make_iterators_if_batches_grow(start)
        began = time.monotonic()
        try:
            fetched = self._run_steps(int(num_steps))
        except (tf.errors.DataLossError, tf.errors.InvalidArgumentError) as error:
            raise input_pipeline.find_damage(self._sources, self._tasks) or error from error
        trained = [int(index) for index, _, _ in fetched]
        # Counted here: the step of a worker that dies may be done twice.
        self._global_step.assign(start + len(trained))
        for index, count in enumerate(self._task_steps):
            count.assign_add(trained.count(index))
        for index, values, ids in fetched:
            if not np.isfinite(values[0]):
                raise TrainingError(
                    f"the loss of a step from {start + 1} to {start + len(trained)} is {values[0]};"
                    f" its batch of {self._tasks[index].name} has the records {ids.decode()}"
                )
        self._signals.raise_if_stopped()
        return monitoring.means(self._tasks, trained, [values for _, values, _ in fetched]) | {
            "learning_rate": monitoring.learning_rate(self._optimizer),
            "pairs_per_second": sum(self._batch_sizes[index] for index in trained)
            / (time.monotonic() - began),
        }

    def _run_steps(self, steps: int) -> list[tuple[Any, ...]]:
        """The results of the steps; fewer than asked for if a signal to stop arrives."""
        ahead = _STEPS_AHEAD * len(self._workers)
        pending: deque[Any] = deque()
        fetched = []
        for number in range(1, steps + 1):
            if self._signals.stop is not None:
                break
            if len(pending) == ahead:
                fetched.append(pending.popleft().fetch())
            is_last = tf.constant(number == steps)
            pending.append(self._coordinator.schedule(self._step, args=(self._iterator, is_last)))
        self._coordinator.join()
        return fetched + [result.fetch() for result in pending]

    def _make_iterators_if_batches_grow(self, start: int) -> None:
        sizes = [self._sampler.batch_size(index, start) for index in range(len(self._tasks))]
        if sizes != self._batch_sizes:
            self._batch_sizes = sizes
            remotes = tuple(self._remote_iterator(worker) for worker in self._workers)
            self._iterator = tf.distribute.coordinator.PerWorkerValue(remotes)

    def _remote_iterator(self, worker: Any) -> Any:
        """An iterator on a worker; the coordinator makes it again if the worker is replaced."""
        index = self._task_of[worker.worker_index]
        peers = [number for number, other in enumerate(self._task_of) if other == index]
        # Each worker's own number of steps is not known: take an equal part of all.
        steps = self._steps_of(index) // len(peers)
        size = self._sampler.mean_batch_size(index, before=int(self._global_step.numpy()))
        context = tf.distribute.InputContext(
            len(peers), peers.index(worker.worker_index), len(peers)
        )
        dataset = tf.function(
            lambda: self._dataset(index, context, read=round(steps * size)), autograph=False
        ).get_concrete_function()
        remote = worker.create_resource(lambda: iter(dataset()))
        remote._type_spec = tf.data.IteratorSpec(dataset.structured_outputs.element_spec)
        return remote

    def _steps_of(self, index: int) -> int:
        """The steps of a task so far: those counted here, and those of synchronous training."""
        counted = [int(steps.numpy()) for steps in self._task_steps]
        before = int(self._global_step.numpy()) - sum(counted)
        return counted[index] + self._sampler.steps(index, 0, max(0, before))

    def _dataset(
        self, index: int, context: tf.distribute.InputContext, *, read: int
    ) -> tf.data.Dataset:
        """(index of the task; a batch of each task, empty but for its own; ids of its records).

        `read` records of the worker's files were trained on before.
        """
        size = self._batch_sizes[index]
        source = self._sources[index].shard(context)
        sizes = [size if number == index else 0 for number in range(len(self._tasks))]
        records = source.batches(read, [Phase(None, size)])

        def element(serialized: tf.Tensor) -> tuple[tf.Tensor, tuple[dict, ...], tf.Tensor]:
            batches = tuple(
                input_pipeline.parse(
                    task, task.task_config.train_data, _of_any_length(serialized[:size])
                )
                for task, size in zip(self._tasks, sizes, strict=True)
            )
            ids = input_pipeline.ids_of(self._tasks[index], serialized)
            return tf.constant(index), batches, ids

        return records.map(element, num_parallel_calls=tf.data.AUTOTUNE).prefetch(tf.data.AUTOTUNE)

    def _make_step(self) -> Any:
        most = max(len(task.metrics) for task in self._tasks)

        def train(task: base_task.Task, batch: dict, is_last: tf.Tensor) -> tf.Tensor:
            def on_worker(batch: dict) -> tf.Tensor:
                logs = task.train_step(batch, self._model, self._optimizer, measure_norm=is_last)
                return monitoring.stacked(task, logs)

            values = self._strategy.run(on_worker, args=(batch,))
            return tf.pad(values, [[0, most - len(task.metrics)]])

        @tf.function(autograph=False)
        def train_step(iterator: Any, is_last: tf.Tensor) -> tuple[tf.Tensor, ...]:
            index, batches, ids = next(iterator)
            values = tf.switch_case(
                index,
                [
                    lambda task=task, batch=batch: train(task, batch, is_last)
                    for task, batch in zip(self._tasks, batches, strict=True)
                ],
            )
            named = tf.cond(
                tf.math.is_finite(values[0]),
                lambda: tf.constant(""),
                lambda: tf.strings.reduce_join(ids, separator=", "),
            )
            return index, values, named

        return train_step


def _print_in_a_line(record: logging.LogRecord) -> bool:
    """Of the coordinator's many logs, prints only that a worker is lost."""
    if record.module != "cluster_coordinator":
        return True
    if str(record.msg).startswith("Worker %s failed"):
        lost = cluster.named_in(record.getMessage())
        print(f"{lost} is not responding; the others take over its steps until it returns")
    return False


def _of_any_length(rows: tf.Tensor) -> tf.Tensor:
    """[n] -> [None]: the elements of all workers must have one type."""
    return tf.compat.v1.placeholder_with_default(rows, [None])


def tasks_of_workers(workers: int, shares: Sequence[float]) -> list[int]:
    """The task of each worker: each has its share of them, but at least one.

    Args:
      workers: how many there are.
      shares: of each task but the first, which has the rest.

    Raises:
      InputError: if there are fewer workers than tasks.
    """
    tasks = 1 + len(shares)
    if workers < tasks:
        raise InputError(f"{tasks} tasks need {tasks} workers at least; TF_CONFIG names {workers}")
    counts = [max(1, round(share * workers)) for share in shares]
    while sum(counts) >= workers:
        counts[counts.index(max(counts))] -= 1
    counts = [workers - sum(counts), *counts]
    return [task for task, count in enumerate(counts) for _ in range(count)]

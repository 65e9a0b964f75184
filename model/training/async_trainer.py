"""The loop of asynchronous training: parameters on servers, workers that step each for itself.

As in the paper (section 3.1) a share of the workers trains inference and the others response
selection. Each worker reads files of its own; a step is one worker's batch.
"""

import logging
import time
from collections import deque
from typing import Any

import numpy as np
import orbit
import tensorflow as tf
import tf_keras

from model.data import input_pipeline
from model.data.task_sampler import Phase, Schedule
from model.distribute import cluster
from model.dual_encoder import DualEncoder
from model.errors import InputError, TrainingError
from model.tasks.tasks import Part
from model.training import train_step as step
from model.training.signals import Signals

_STEPS_AHEAD = 10
"""As many steps wait for each worker: a signal to stop waits for these."""


class AsynchronousTrainer(orbit.AbstractTrainer):
    """Hands out steps to the workers and waits for them once a loop."""

    def __init__(
        self,
        parts: list[Part],
        *,
        schedule: Schedule,
        strategy: tf.distribute.ParameterServerStrategy,
        model: DualEncoder,
        optimizer: tf_keras.optimizers.legacy.Optimizer,
        global_step: tf.Variable,
        task_steps: list[tf.Variable],
        signals: Signals,
    ):
        self._parts = parts
        self._schedule = schedule
        self._strategy = strategy
        self._model = model
        self._optimizer = optimizer
        self._global_step = global_step
        self._task_steps = task_steps
        self._signals = signals
        self._sources = input_pipeline.make_sources(parts, seed=schedule.seed)
        tf.get_logger().addFilter(_say_in_a_line)
        self._coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)
        # There is no public way to give workers different data.
        self._workers = self._coordinator._cluster.workers
        self._tasks = tasks_of_workers(len(self._workers), len(parts), schedule.share)
        counts = [self._tasks.count(task) for task in range(len(parts))]
        input_pipeline.require_enough_files(self._sources, counts)
        self._batch_sizes: list[int] = []
        self._iterator: Any = None
        self._step = self._make_step()

    def train(self, num_steps: tf.Tensor) -> dict[str, float]:
        """Trains some steps, each on whatever worker is free.

        Returns:
          As `Trainer.train`; `nli_share` is what was really trained.

        Raises:
          StoppedError: if a signal said to stop; the steps of this loop are done.
          TrainingError: if a loss is not finite.
          InputError: if a record cannot be read.
        """
        start = int(self._global_step.numpy())
        self._read_anew_if_batches_grow(start)
        began = time.monotonic()
        try:
            fetched = self._run_steps(int(num_steps))
        except (tf.errors.DataLossError, tf.errors.InvalidArgumentError) as error:
            raise input_pipeline.what_is_wrong(self._sources, self._parts) or error from error
        tasks = [int(task) for task, _, _ in fetched]
        # Counted here, since a worker that dies may have done a step that is then done again.
        self._global_step.assign(start + len(tasks))
        for task, count in enumerate(self._task_steps):
            count.assign_add(tasks.count(task))
        for task, values, ids in fetched:
            if not np.isfinite(values[0]):
                raise TrainingError(
                    f"the loss of a step from {start + 1} to {start + len(tasks)} is {values[0]}; "
                    f"its batch of {self._parts[task].task.name} has the records {ids.decode()}"
                )
        self._signals.raise_if_stopped()
        return step.means(
            [part.task for part in self._parts], tasks, [values for _, values, _ in fetched]
        ) | {
            "learning_rate": step.learning_rate(self._optimizer),
            "pairs_per_second": sum(self._batch_sizes[task] for task in tasks)
            / (time.monotonic() - began),
        }

    def _run_steps(self, steps: int) -> list[tuple[Any, ...]]:
        """What the steps returned; fewer than asked for if a signal says to stop."""
        ahead = _STEPS_AHEAD * len(self._workers)
        pending: deque[Any] = deque()
        fetched = []
        for number in range(1, steps + 1):
            if self._signals.stop is not None:
                break
            if len(pending) == ahead:
                fetched.append(pending.popleft().fetch())
            measured = tf.constant(number == steps)
            pending.append(self._coordinator.schedule(self._step, args=(self._iterator, measured)))
        self._coordinator.join()
        return fetched + [result.fetch() for result in pending]

    def _read_anew_if_batches_grow(self, start: int) -> None:
        sizes = [self._schedule.batch_size(task, start) for task in range(len(self._parts))]
        if sizes != self._batch_sizes:
            self._batch_sizes = sizes
            remotes = tuple(self._remote_iterator(worker) for worker in self._workers)
            self._iterator = tf.distribute.coordinator.PerWorkerValue(remotes)

    def _remote_iterator(self, worker: Any) -> Any:
        """An iterator on a worker, which is made again should the worker come back."""
        task = self._tasks[worker.worker_index]
        peers = [index for index, other in enumerate(self._tasks) if other == task]
        # What the others did is not known here: about as much.
        steps = int(self._task_steps[task].numpy()) // len(peers)
        context = tf.distribute.InputContext(
            len(peers), peers.index(worker.worker_index), len(peers)
        )
        dataset = tf.function(
            lambda: self._dataset(task, context, steps=steps), autograph=False
        ).get_concrete_function()
        remote = worker.create_resource(lambda: iter(dataset()))
        remote._type_spec = tf.data.IteratorSpec(dataset.structured_outputs.element_spec)
        return remote

    def _dataset(
        self, task: int, context: tf.distribute.InputContext, *, steps: int
    ) -> tf.data.Dataset:
        """(task; batches of all tasks, empty but for its own; ids of its records)."""
        part, size = self._parts[task], self._batch_sizes[task]
        source = self._sources[task].part(context)
        sizes = [size if number == task else 0 for number in range(len(self._parts))]
        records = source.batches(steps * size, [Phase(None, size)])

        def element(serialized: tf.Tensor) -> tuple[tf.Tensor, tuple[dict, ...], tf.Tensor]:
            batches = tuple(
                input_pipeline.parse(each, each.train_data, _of_any_length(serialized[:size]))
                for each, size in zip(self._parts, sizes, strict=True)
            )
            return tf.constant(task), batches, input_pipeline.ids_of(part.task, serialized)

        return records.map(element, num_parallel_calls=tf.data.AUTOTUNE).prefetch(tf.data.AUTOTUNE)

    def _make_step(self) -> Any:
        longest = max(len(step.names_of(part.task)) for part in self._parts)

        def train(task: int, batch: dict, measured: tf.Tensor) -> tf.Tensor:
            def on_worker(batch: dict) -> tf.Tensor:
                return step.train(
                    self._parts[task].task,
                    batch,
                    model=self._model,
                    optimizer=self._optimizer,
                    measured=measured,
                )

            values = self._strategy.run(on_worker, args=(batch,))
            return tf.pad(values, [[0, longest - tf.shape(values)[0]]])

        @tf.function
        def train_step(iterator: Any, measured: tf.Tensor) -> tuple[tf.Tensor, ...]:
            task, batches, ids = next(iterator)
            values = tf.switch_case(
                task,
                [
                    lambda number=number: train(number, batches[number], measured)
                    for number in range(len(self._parts))
                ],
            )
            named = tf.cond(
                tf.math.is_finite(values[0]),
                lambda: tf.constant(""),
                lambda: tf.strings.reduce_join(ids, separator=", "),
            )
            return task, values, named

        return train_step


def _say_in_a_line(record: logging.LogRecord) -> bool:
    """Of what the coordinator logs, at length and often, only that a worker is lost is told."""
    if record.module != "cluster_coordinator":
        return True
    if str(record.msg).startswith("Worker %s failed"):
        lost = cluster.named_in(record.getMessage())
        print(f"{lost} does not answer; the others do its steps until it is back")
    return False


def _of_any_length(rows: tf.Tensor) -> tf.Tensor:
    """[n] -> [None]: all workers' elements must be of one type."""
    return tf.compat.v1.placeholder_with_default(rows, [None])


def tasks_of_workers(workers: int, tasks: int, share: float) -> list[int]:
    """The task of each worker: a share of them, at least one, has the second.

    Raises:
      InputError: if there are fewer workers than tasks.
    """
    if tasks == 1:
        return [0] * workers
    if workers < tasks:
        raise InputError(f"two tasks need two workers at least; TF_CONFIG names {workers}")
    second = min(max(1, round(share * workers)), workers - 1)
    return [0] * (workers - second) + [1] * second

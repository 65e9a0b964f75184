"""Asynchronous training: variables on parameter servers, each worker steps alone.

As in the paper (section 3.1), a share of the workers trains NLI and the others response selection;
likewise with a teacher.
Each worker reads its own files; a step is one worker's batch.
"""

import functools
import logging
import signal
from collections import deque
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from common.errors import InputError
from model import cluster
from model.data.task_sampler import Phase
from model.training.state import Run
from model.training.trainer import Step, Trainer

_STEPS_AHEAD = 10
"""Steps queued for each worker; a signal to stop waits for them."""


class AsynchronousTrainer(Trainer):
    """Schedules steps on the workers and waits for them once a loop.

    Steps are numbered in the order in which they were scheduled.
    """

    def __init__(self, run: Run):
        super().__init__(run)
        tf.get_logger().addFilter(_print_in_a_line)
        self._coordinator = tf.distribute.coordinator.ClusterCoordinator(self._strategy)
        # No public API gives workers different data.
        self._workers = self._coordinator._cluster.workers
        self._task_of = tasks_of_workers(len(self._workers), self._sampler.shares)
        counts = [self._task_of.count(index) for index in range(len(self._tasks))]
        self._require_enough_files(counts)
        self._batch_sizes: list[int] = []
        self._iterator: Any = None
        self._step = self._make_step()

    def _take_steps(self, start: int, count: int) -> tuple[list[Step], signal.Signals | None]:
        self._make_iterators_if_batches_grow(start)
        results = self._results(count)
        steps = [Step(int(index), values) for index, values in results]
        # Counted here: the step of a worker that dies may be done twice.
        self._state.global_step.assign(start + len(steps))
        return steps, self._signals.stop

    def _results(self, count: int) -> list[tuple[Any, ...]]:
        """The results of the steps; fewer than asked for if a signal to stop arrives."""
        ahead = _STEPS_AHEAD * len(self._workers)
        pending: deque[Any] = deque()
        fetched = []
        for number in range(1, count + 1):
            if self._signals.stop is not None:
                break
            if len(pending) == ahead:
                fetched.append(pending.popleft().fetch())
            is_last = tf.constant(number == count)
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
        read = self._run.step // len(self._workers) * self._batch_sizes[index]
        context = tf.distribute.InputContext(
            len(peers), peers.index(worker.worker_index), len(peers)
        )
        dataset = tf.function(
            lambda: self._dataset(index, context, read=read), autograph=False
        ).get_concrete_function()
        remote = worker.create_resource(lambda: iter(dataset()))
        remote._type_spec = tf.data.IteratorSpec(dataset.structured_outputs.element_spec)
        return remote

    def _dataset(
        self, index: int, context: tf.distribute.InputContext, *, read: int
    ) -> tf.data.Dataset:
        """(index of the task; a batch of each task, empty but for its own).

        `read` records of the worker's files were trained on before.
        """
        size = self._batch_sizes[index]
        source = self._sources[index].shard(context)
        records = source.batches(read, [Phase(None, size)])

        @tf.autograph.experimental.do_not_convert
        def element(serialized: tf.Tensor) -> tuple[tf.Tensor, tuple[dict, ...]]:
            batches = tuple(
                task.parse(_of_any_length(serialized if number == index else serialized[:0]))
                for number, task in enumerate(self._tasks)
            )
            return tf.constant(index), batches

        return records.map(element, num_parallel_calls=tf.data.AUTOTUNE).prefetch(tf.data.AUTOTUNE)

    def _make_step(self) -> Any:
        @tf.function(autograph=False)
        def train_step(iterator: Any, is_last: tf.Tensor) -> tuple[tf.Tensor, ...]:
            index, batches = next(iterator)
            branches = [
                functools.partial(self._strategy.run, self._train_step, (task, batch, is_last))
                for task, batch in zip(self._tasks, batches, strict=True)
            ]
            return index, tf.switch_case(index, branches)

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
    """The task of each worker: each has its share of them, the first the rest, but at least one."""
    tasks = 1 + len(shares)
    if workers < tasks:
        raise InputError(f"TF_CONFIG names {workers} workers; accepted: one for each task, {tasks}")
    counts = [max(1, round(share * workers)) for share in shares]
    while sum(counts) >= workers:
        counts[counts.index(max(counts))] -= 1
    counts = [workers - sum(counts), *counts]
    return [task for task, count in enumerate(counts) for _ in range(count)]

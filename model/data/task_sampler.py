"""Which task each step trains and on how many records, from nothing but seed and step.

So all workers draw the same without speaking to each other, and a resumed run goes on as an
undisturbed one would.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from model.configs import schema

_AT_ONCE = 1 << 20
"""Draws of a block are made together, so that any one is soon found."""


class Phase(NamedTuple):
    """Some consecutive steps of one task with one batch size."""

    steps: int | None
    """None for the last, which has no end."""
    batch_size: int
    """Records of one batch, over all replicas."""


class Schedule(NamedTuple):
    """The steps of one task, or of two drawn by weight."""

    data: list[schema.Data]
    """Of each task."""
    share: float
    """The part of the steps that trains the second task."""
    seed: int

    def tasks(self, start: int, stop: int) -> np.ndarray:
        """The index of the task of each step from `start` to before `stop`: int64 [steps]."""
        if len(self.data) == 1:
            return np.zeros(stop - start, np.int64)
        first = start // _AT_ONCE
        drawn = [self._block(block) for block in range(first, -(-stop // _AT_ONCE))]
        within = slice(start - first * _AT_ONCE, stop - first * _AT_ONCE)
        return np.concatenate([*drawn, np.zeros(0, np.int64)])[within]

    def batch_size(self, task: int, step: int) -> int:
        """Records of one batch of a task at a step of the run, over all replicas."""
        data = self.data[task]
        sizes = [data.global_batch_size, *data.batch_sizes]
        return sizes[sum(boundary <= step for boundary in data.batch_boundaries)]

    def records(self, task: int, *, before: int) -> int:
        """How many records of a task the first `before` steps take."""
        edges = [0, *(edge for edge in self.data[task].batch_boundaries if edge < before), before]
        return sum(
            self.steps(task, begin, end) * self.batch_size(task, begin)
            for begin, end in pairwise(edges)
        )

    def phases(self, task: int, start: int) -> list[Phase]:
        """The batches of a task from a step of the run on."""
        edges = [start, *(edge for edge in self.data[task].batch_boundaries if edge > start)]
        phases = [
            Phase(self.steps(task, begin, end), self.batch_size(task, begin))
            for begin, end in pairwise(edges)
        ]
        return [*phases, Phase(None, self.batch_size(task, edges[-1]))]

    def steps(self, task: int, start: int, stop: int) -> int:
        """How many of the steps from `start` to before `stop` train a task."""
        second = sum(
            int(self.tasks(begin, min(begin + _AT_ONCE, stop)).sum())
            for begin in range(start, stop, _AT_ONCE)
        )
        return second if task else stop - start - second

    def _block(self, block: int) -> np.ndarray:
        draws = np.random.Generator(np.random.Philox(key=[self.seed, block])).random(_AT_ONCE)
        return (draws < self.share).astype(np.int64)

"""Which task each step trains, on how many records: a function of the seed and the step alone.

All workers draw alike without communication, and a resumed run continues as an undisturbed one.
The Model Garden's samplers draw inside the train step, so how many records of each task precede a
step, which is where a resumed run continues to read, would be known only by drawing again.
"""

import functools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from model.configs import schema

_AT_ONCE = 1 << 20
"""Draws are made in blocks of this many steps, so that any one is found quickly."""


class Phase(NamedTuple):
    """Consecutive steps of one task with one batch size."""

    steps: int | None
    """None: without end."""
    batch_size: int
    """Global batch size."""


class TaskSampler(NamedTuple):
    """Draws one task a step."""

    data: list[schema.Data]
    """Training data of each task."""
    shares: Sequence[float]
    """Probability of each task but the first, which has the rest."""
    seed: int

    def tasks(self, start: int, stop: int) -> np.ndarray:
        """Index of the task of each step in [start, stop): int64 [stop - start]."""
        if len(self.data) == 1:
            return np.zeros(stop - start, np.int64)
        first = start // _AT_ONCE
        drawn = [
            _block(number, seed=self.seed, shares=tuple(self.shares))
            for number in range(first, -(-stop // _AT_ONCE))
        ]
        within = slice(start - first * _AT_ONCE, stop - first * _AT_ONCE)
        return np.concatenate([*drawn, np.zeros(0, np.int64)])[within]

    def batch_size(self, task: int, step: int) -> int:
        """Global batch size of a task at a step of the run."""
        data = self.data[task]
        sizes = [data.global_batch_size, *data.batch_sizes]
        return sizes[sum(boundary <= step for boundary in data.batch_boundaries)]

    def records(self, task: int, *, before: int) -> int:
        """Number of records that a task takes in the first `before` steps."""
        return sum((steps or 0) * size for steps, size in self.phases(task, 0, before))

    def phases(self, task: int, start: int, stop: int | None = None) -> list[Phase]:
        """The phases of a task from step `start` of the run on, before `stop`."""
        changes = [
            edge
            for edge in self.data[task].batch_boundaries
            if start < edge and (stop is None or edge < stop)
        ]
        return [
            Phase(None if end is None else self.steps(task, at, end), self.batch_size(task, at))
            for at, end in zip([start, *changes], [*changes, stop], strict=True)
        ]

    def steps(self, task: int, start: int, stop: int) -> int:
        """Number of steps in [start, stop) that train a task."""
        return sum(
            int(np.count_nonzero(self.tasks(begin, min(begin + _AT_ONCE, stop)) == task))
            for begin in range(start, stop, _AT_ONCE)
        )


@functools.lru_cache(maxsize=2)
def _block(number: int, *, seed: int, shares: tuple[float, ...]) -> np.ndarray:
    """Index of the task of each step of a block: int64 [_AT_ONCE]. Kept, for each loop asks."""
    draws = np.random.Generator(np.random.Philox(key=[seed, number])).random(_AT_ONCE)
    # Numbers below the first share draw the second task, then come the third's, and so on.
    place = np.searchsorted(np.cumsum(shares), draws, side="right")
    return (place + 1) % (len(shares) + 1)

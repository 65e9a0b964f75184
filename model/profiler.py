"""A profile of some steps, written when a signal asks for it.

kill -USR1 PID; tensorboard --logdir MODEL_DIR
"""

import tensorflow as tf

from model.signals import Signals


class Profiler:
    """Is told of every step."""

    def __init__(self, folder: str, *, steps: int, signals: Signals):
        self._folder = folder
        self._steps = steps
        self._signals = signals
        self._last: int | None = None

    def step(self, number: int) -> None:
        """Begins a profile if one is asked for, and ends it in time."""
        if self._last is None and self._signals.profile:
            self._signals.profile = False
            self._last = number + self._steps
            tf.profiler.experimental.start(self._folder)
        elif self._last is not None and number >= self._last:
            tf.profiler.experimental.stop()
            self._last = None
            print(f"a profile of {self._steps} steps up to step {number} is in {self._folder}")

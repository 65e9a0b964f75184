"""A profile of some steps, written when a signal asks for it.

kill -USR1 PID; tensorboard --logdir MODEL_DIR
"""

import tensorflow as tf

from model.training.signals import Signals


class Profiler:
    """Is told of every step."""

    def __init__(self, folder: str, *, steps: int, signals: Signals):
        self._folder = folder
        self._steps = steps
        self._signals = signals
        self._number = 0
        self._last: int | None = None

    def step(self, number: int) -> None:
        """Begins a profile if one is asked for, and ends it in time."""
        self._number = number
        if self._last is None and self._signals.profile:
            self._signals.profile = False
            self._last = number + self._steps
            tf.profiler.experimental.start(self._folder)
        elif self._last is not None and number >= self._last:
            self.close()

    def close(self) -> None:
        """Ends a profile that has begun, as it must when training stops before."""
        if self._last is not None:
            tf.profiler.experimental.stop()
            self._last = None
            print(f"a profile of the steps up to {self._number} is in {self._folder}")

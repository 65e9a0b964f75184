"""Signals that stop a run: TERM, which schedulers send first, and INT (Ctrl-C)."""

import signal
from types import FrameType
from typing import Self

_STOP = (signal.SIGTERM, signal.SIGINT)


class Signals:
    """Notes the signals that arrive while it is entered; training asks between two steps."""

    def __init__(self) -> None:
        self.stop: signal.Signals | None = None
        """The signal to stop, if one has arrived."""

    def __enter__(self) -> Self:
        self._before = {number: signal.signal(number, self._note) for number in _STOP}
        return self

    def _note(self, number: int, frame: FrameType | None) -> None:
        del frame
        if self.stop is not None:
            raise KeyboardInterrupt  # the second signal stops at once
        self.stop = signal.Signals(number)

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

"""What a running job can be told from outside.

TERM, which schedulers send before they take a machine away, and INT (Ctrl-C): save and go.
USR1: write a profile of the next steps.
"""

import signal
from types import FrameType, TracebackType
from typing import Self

from model.errors import StoppedError

_STOP = (signal.SIGTERM, signal.SIGINT)


class Signals:
    """Notes the signals that come while it is entered; training asks between two steps."""

    def __init__(self) -> None:
        self.stop: signal.Signals | None = None
        """The signal that said so."""
        self.profile = False

    def __enter__(self) -> Self:
        self._before = {
            number: signal.signal(number, self._note) for number in (*_STOP, signal.SIGUSR1)
        }
        return self

    def raise_if_stopped(self) -> None:
        """Raises a StoppedError if a signal said to stop."""
        if self.stop is not None:
            raise stopped_by(self.stop)

    def _note(self, number: int, frame: FrameType | None) -> None:
        del frame
        if number == signal.SIGUSR1:
            self.profile = True
        elif self.stop is None:
            self.stop = signal.Signals(number)
        else:
            # Said twice, it is meant.
            raise KeyboardInterrupt

    def __exit__(
        self, error: type[BaseException] | None, value: object, traceback: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)


def stopped_by(number: signal.Signals) -> StoppedError:
    """What to raise when a signal says to stop."""
    return StoppedError(f"stopped by {number.name}", status=128 + number)

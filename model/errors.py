"""Errors that end training with one line."""

import signal

from common.errors import InputError


class TrainingError(InputError):
    """Training cannot continue; the message says why, and what is saved."""


class StoppedError(Exception):
    """A signal stopped the run; its state is saved."""

    def __init__(self, number: signal.Signals, where: str = ""):
        super().__init__(f"stopped by {number.name}{where}")
        self.number = number
        self.status = 128 + number
        """Exit status, as in shells."""

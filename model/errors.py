"""Errors that end training with one line."""


class TrainingError(Exception):
    """Training cannot continue; the message says why, and what is saved."""


class StoppedError(Exception):
    """A signal stopped the run; its state is saved."""

    def __init__(self, message: str, *, status: int):
        super().__init__(message)
        self.status = status
        """Exit status: 128 plus the number of the signal, as in shells."""

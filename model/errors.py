"""Errors that end a command with one line."""

import re
from typing import Any

from common.errors import InputError as InputError


class TrainingError(Exception):
    """Training cannot continue; the message says why, and what is saved."""


class StoppedError(Exception):
    """A signal stopped the run; its state is saved."""

    def __init__(self, message: str, *, status: int):
        super().__init__(message)
        self.status = status
        """Exit status: 128 plus the number of the signal, as in shells."""


def message_of(error: Any) -> str:
    """The message of a `tf.errors.OpError` without names of operations in the graph."""
    return re.sub(r"\{\{.*?\}\}|\[Op:\w+\]", "", error.message).strip()

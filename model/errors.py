"""How a run ends before its last step."""


class InputError(ValueError):
    """Something the user gave is wrong; the message names it and says what is accepted."""


class TrainingError(Exception):
    """Training cannot go on; the message says where it stands and what is saved."""


class StoppedError(Exception):
    """The run was told to stop; what was trained is saved."""

    def __init__(self, message: str, *, status: int):
        super().__init__(message)
        self.status = status
        """For the exit of the process: 128 and the number of the signal, as shells have it."""

"""The one error that a user of the command line can mend."""


class InputError(ValueError):
    """Something the user gave is wrong; the message names it and says what is accepted."""

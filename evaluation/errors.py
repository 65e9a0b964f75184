"""The one error that a user of this package can act on."""


class InputError(ValueError):
    """Something given from outside is wrong: a file, a line, an option or a module.

    The message is one line that names the place, the value found and what is accepted;
    the command line prints it without a traceback.
    """

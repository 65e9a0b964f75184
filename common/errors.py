"""Errors that a user can act on, each told in one line.

What reads or checks something that a user has given raises `InputError`, in this package without
saying so again. What comes back is trusted.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class InputError(ValueError):
    """Something that was given is wrong: a file, a line, an option, a module.

    The message is one line that names the place, the value found and what is accepted.
    """


@contextmanager
def reading(place: str | Path) -> Iterator[None]:
    """Makes an error of any library an InputError that names a place, such as a file."""
    try:
        yield
    except InputError:
        raise
    except Exception as error:
        raise InputError(f"{place}: {message_of(error)}") from error


def message_of(error: BaseException) -> str:
    """What an error says, in one line; its type where it says nothing."""
    if isinstance(error, OSError) and error.strerror:
        name = error.filename2 or error.filename
        return f"{name}: {error.strerror}" if name else error.strerror
    # TensorFlow adds names of operations in its graph.
    text = re.sub(r"\{\{.*?\}\}|\[Op:\w+\]( name: ?$)?", "", str(error))
    return " ".join(text.split()) or type(error).__name__

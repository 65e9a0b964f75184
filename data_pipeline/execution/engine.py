"""What an engine says of a job, for a person at the command line.

Of a failure an engine tells everything: the traceback of the Python code, in that of the
worker, in Java's own. All of it is in the engine's logs; the command says the line that names
the cause.
"""

import logging
import re
import threading

_CAUSE = re.compile(r"^(?:Caused by: )?([\w.$]+(?:Error|Exception)\b.*)$", re.MULTILINE)
_DETAILS = re.compile(r'^\s*details = "(.+)"$', re.MULTILINE)
"""How gRPC says why a connection to an engine broke."""
_STATES = "apache_beam.runners.portability.portable_runner"


def hear_states_only() -> None:
    """Sets the log to show when the job's state changes, and nothing else of Beam's."""
    # What engines report, tracebacks included, goes through the root logger.
    logging.getLogger().setLevel(logging.CRITICAL)
    logging.getLogger("apache_beam").setLevel(logging.CRITICAL)
    # Beam's thread that waits for the engine fails with it, and the main thread tells of it.
    threading.excepthook = lambda _: None
    states = logging.getLogger(_STATES)
    states.setLevel(logging.INFO)
    states.addFilter(lambda record: "state changed" in record.getMessage())


def cause_of(failure: str) -> str:
    """The one line of a failure's account that names the cause.

    It is the last one that names an exception, for causes come after what they caused and
    Python's own come last; or else the last line of all.
    """
    causes = _CAUSE.findall(failure) or _DETAILS.findall(failure)
    lines = [line.strip() for line in failure.splitlines() if line.strip()]
    return (causes or lines or ["no reason given"])[-1].strip()

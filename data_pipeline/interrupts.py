"""Ctrl-C: the command and its worker processes end at once, with one line."""

import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress

import psutil

STATUS = 130
"""What a shell reports for a command that Ctrl-C ended: 128 and the signal's number."""


def run_until_interrupted(command: Callable[[], None]) -> None:
    """Runs a command; Ctrl-C ends this process with one line and `STATUS`."""
    interrupted = False

    def interrupt(*_: object) -> None:
        nonlocal interrupted
        if interrupted:
            os._exit(STATUS)
        interrupted = True
        # First of all: what cleans up in Beam waits for its workers.
        _kill_children()
        # With a message, or Beam turns it into a RuntimeError where it adds the step's name.
        raise KeyboardInterrupt("interrupted")

    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:  # as it is in a shell's background
        signal.signal(signal.SIGINT, interrupt)
    try:
        command()
    except BaseException:
        # Whatever it became on its way up.
        if not interrupted:
            raise
        _kill_children()
        print("interrupted; run the same command again to complete it", file=sys.stderr)
        sys.stdout.flush()
        # Threads of Beam's may still work, and a normal exit waits for them.
        os._exit(STATUS)


def _kill_children() -> None:
    for child in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            child.kill()

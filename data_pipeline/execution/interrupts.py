"""Ctrl-C and TERM: the command and its worker processes end at once, with one line."""

import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress

import psutil


def run_until_interrupted(command: Callable[[], None]) -> None:
    """Runs a command; Ctrl-C or TERM ends this process with one line.

    Its exit status is what a shell reports then: 128 and the signal's number.
    """
    status = 0

    def interrupt(number: int, _: object) -> None:
        nonlocal status
        if status:
            os._exit(status)
        status = 128 + number
        # First of all: what cleans up in Beam waits for its workers.
        _kill_children()
        # With a message, or Beam turns it into a RuntimeError where it adds the step's name.
        raise KeyboardInterrupt("interrupted")

    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) is not signal.SIG_IGN:  # as it is in a shell's background
            signal.signal(number, interrupt)
    try:
        command()
    except BaseException:
        # Whatever it became on its way up.
        if not status:
            raise
        _kill_children()
        print("interrupted; run the same command again to complete it", file=sys.stderr)
        sys.stdout.flush()
        # Threads of Beam's may still work, and a normal exit waits for them.
        os._exit(status)


def _kill_children() -> None:
    for child in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            child.kill()

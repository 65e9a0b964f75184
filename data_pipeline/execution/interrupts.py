"""Ctrl-C and TERM: the command and its worker processes end at once, with one line."""

import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress

import psutil


def run_until_interrupted(command: Callable[[], None]) -> None:
    """Runs a command; Ctrl-C or TERM ends this process with one line.

    The exit status is the shell's: 128 plus the signal's number.
    """
    status = 0

    def interrupt(number: int, _: object) -> None:
        nonlocal status
        if status:
            os._exit(status)
        status = 128 + number
        # First: the cleanup in Beam waits for its workers.
        _kill_children()
        # With a message, or Beam turns it into a RuntimeError when it adds the step's name.
        raise KeyboardInterrupt("interrupted")

    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) is not signal.SIG_IGN:  # a shell's background job
            signal.signal(number, interrupt)
    try:
        command()
    except BaseException:
        # Whatever the exception has become by now.
        if not status:
            raise
        _kill_children()
        print("interrupted; run the same command again to complete it", file=sys.stderr)
        sys.stdout.flush()
        # A normal exit would wait for threads of Beam's.
        os._exit(status)


def _kill_children() -> None:
    for child in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            child.kill()

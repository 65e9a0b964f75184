"""Beam's options and runners: this machine's processes or an engine, and why a job failed.

An engine reports a failure with every traceback, of Python, of the worker and of Java. They are
all in the engine's logs; the command shows the line that names the cause.
"""

import logging
import os
import re
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import pairwise
from pathlib import Path
from typing import Any, TextIO

import apache_beam as beam
import psutil
from apache_beam.options.pipeline_options import DirectOptions, PipelineOptions, StandardOptions

from common.errors import InputError
from data_pipeline.storage.filesystem import reach_object_stores

# DirectRunner would first look for Prism, a program that it downloads, and fall back silently.
LOCAL_RUNNER = "FnApiRunner"
_NAMES_OF_LOCAL = ("direct", "directrunner", "fnapirunner")
"""What Beam's users call it, in lower case."""
_WITH_JOB_SERVER = ("flink", "spark", "portable", "prism", "apache_beam.runners.portability.")
"""Lower-case prefixes of runners whose job server adds options once it runs."""
_MULTI_PROCESSING = "multi_processing"
_INPUT_BYTES_A_WORKER = 8 << 20
"""Another process takes some two seconds to start, which pays from this much stored input on."""
_CAUSE = re.compile(r"^(?:Caused by: )?([\w.$]+(?:Error|Exception)\b.*)$", re.MULTILINE)
_DETAILS = re.compile(r'^\s*details = "(.+)"$', re.MULTILINE)
"""How gRPC says why a connection to an engine broke."""
_SECRETS = ("--s3_access_key_id", "--s3_secret_access_key", "--s3_session_token")
_STATES = "apache_beam.runners.portability.portable_runner"  # logs when a job's state changes
_STDERR = 2


class _Options(PipelineOptions):
    """Beam's options, of which unknown ones are refused: Beam leaves them out with a warning."""

    def get_all_options(self, *given: Any, **named: Any) -> dict[str, Any]:
        """The options by name; a job server names `add_extra_args_fn`, which adds its own."""
        of_server = named.get("add_extra_args_fn")
        if of_server is not None and not named.get("retain_unknown_options"):
            self.require_known(of_server)
        return super().get_all_options(*given, **named)

    def require_known(self, of_server: Callable | None = None) -> None:
        """Raises an InputError unless all options are Beam's, or added by the function."""
        get = super().get_all_options
        known, given = (get(False, of_server, retain) for retain in (False, True))
        if unknown := given.keys() - known.keys():
            raise InputError(
                f"unknown option --{min(unknown)}; accepted: the ones that --help lists and "
                "Beam's pipeline options"
            )


def pipeline_options(beam_arguments: Sequence[str]) -> PipelineOptions:
    """Beam's options; raises an InputError if an argument is unknown, or a credential."""
    for before, argument in pairwise(["", *beam_arguments]):
        # What follows "--name" without "=" may be its value.
        if not argument.startswith("-") and (not before.startswith("--") or "=" in before):
            raise InputError(f"unexpected argument {argument!r}; every option begins with --")
        if (name := argument.partition("=")[0]) in _SECRETS:
            raise InputError(
                f"{name}: engines and workers write the command line into logs; accepted: "
                "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, here and where workers run"
            )
    options = _Options(list(beam_arguments))
    standard = options.view_as(StandardOptions)
    if standard.runner is None or standard.runner.lower() in _NAMES_OF_LOCAL:
        standard.runner = LOCAL_RUNNER
    if not standard.runner.lower().startswith(_WITH_JOB_SERVER):
        options.require_known()
    if (workers := options.view_as(DirectOptions).direct_num_workers) < 0:
        raise InputError(f"--direct_num_workers: {workers} is not 0 or more")
    # Workers log each error that the job then fails with.
    logging.getLogger("apache_beam").setLevel(logging.CRITICAL)
    if not is_local(options):
        # What engines report, tracebacks included, goes through the root logger.
        logging.getLogger().setLevel(logging.CRITICAL)
        # Beam's thread that waits for the engine fails with it; the main thread reports that.
        threading.excepthook = lambda _: None
        states = logging.getLogger(_STATES)
        states.setLevel(logging.INFO)
        states.addFilter(lambda record: "state changed" in record.getMessage())
    reach_object_stores(options)
    return options


def is_local(options: PipelineOptions) -> bool:
    """Whether the job runs in this process and its children."""
    return options.view_as(StandardOptions).runner == LOCAL_RUNNER


def choose_workers(options: PipelineOptions, given: Sequence[str], *, stored_bytes: int) -> int:
    """How many processes work at once: all cores where the input is worth it; none on engines.

    Sets Beam's options unless `given`, the user's arguments, has them, even as Beam's defaults.
    """
    if not is_local(options):
        return 0
    direct = options.view_as(DirectOptions)
    if not any(argument.startswith("--direct_") for argument in given):
        cores = len(os.sched_getaffinity(0))
        direct.direct_num_workers = max(1, min(cores, stored_bytes // _INPUT_BYTES_A_WORKER))
        if direct.direct_num_workers > 1:
            direct.direct_running_mode = _MULTI_PROCESSING
    if direct.direct_running_mode != _MULTI_PROCESSING:
        return 1
    return direct.direct_num_workers or os.cpu_count() or 1


def run_pipeline(pipeline: beam.Pipeline) -> None:
    """Runs a pipeline to its end; raises an InputError of one line if the job fails."""
    try:
        pipeline.run().wait_until_finish()
    except InputError:
        raise
    except Exception as error:
        cause = cause_of(f"{type(error).__name__}: {error}")
        raise InputError(f"the job stopped: {cause}") from error


def cause_of(failure: str) -> str:
    """The line of a report that names the cause: the last exception, as Python's own come last."""
    lines = [line.strip() for line in failure.splitlines() if line.strip()]
    return (_CAUSE.findall(failure) or _DETAILS.findall(failure) or lines)[-1].strip()


@contextmanager
def quiet_processes(workers: int) -> Iterator[TextIO]:
    """Silences the stderr of Beam's processes, and ends them on a signal; yields the terminal.

    They write about each channel that they open, and no option stops them; their errors come with
    the failure of the job. On a signal all end at once: Beam's cleanup would wait for its workers.
    """

    def end(number: int, _: object) -> None:
        for child in psutil.Process().children(recursive=True):
            with suppress(psutil.NoSuchProcess):
                child.kill()
        said = "interrupted; run the same command again to complete it"
        print(f"\n{said}", file=terminal, flush=True)
        os._exit(128 + number)

    sys.stderr.flush()
    with Path(os.devnull).open("w") as nowhere, os.fdopen(os.dup(_STDERR), "w") as terminal:
        if workers > 1:
            os.dup2(nowhere.fileno(), _STDERR)
        heard = []
        if threading.current_thread() is threading.main_thread():
            # A shell ignores Ctrl-C for what runs in the background.
            numbers = (signal.SIGINT, signal.SIGTERM)
            heard = [each for each in numbers if signal.getsignal(each) is not signal.SIG_IGN]
        before = {number: signal.signal(number, end) for number in heard}
        try:
            yield terminal
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
            os.dup2(terminal.fileno(), _STDERR)

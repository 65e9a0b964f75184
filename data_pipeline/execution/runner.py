"""Beam's options and runners: local or an engine, and why a job failed.

An engine reports a failure with every traceback, of Python, of the worker and of Java. They are
all in the engine's logs; the command shows the line that names the cause.
"""

import itertools
import logging
import re
import threading
from collections.abc import Callable
from typing import Any, TypeVar

import apache_beam as beam
from apache_beam.options.pipeline_options import DirectOptions, PipelineOptions, StandardOptions

from common.errors import InputError
from data_pipeline.execution.shuffle import DamagedFileError
from data_pipeline.execution.state_sampling import end_bundles_soon
from data_pipeline.storage.filesystem import reach_object_stores

# DirectRunner would first look for Prism, a program that it downloads, and fall back silently.
LOCAL_RUNNER = "FnApiRunner"
_NAMES_OF_LOCAL = {"direct", "directrunner", "switchingdirectrunner", "fnapi", "fnapirunner"}
"""What Beam's users call it, in lower case."""
_WITH_A_JOB_SERVER = ("flink", "spark", "portable", "apache_beam.runners.portability.")
"""How runners are called, in lower case, that have options of their own, which are known when the
job server has started."""
_DAMAGED = re.compile(
    rf"\b{DamagedFileError.__name__}: (.+?)(?: \[while running .*)?$", re.MULTILINE
)
"""How a runner's report of a failure names the file."""
_CAUSE = re.compile(r"^(?:Caused by: )?([\w.$]+(?:Error|Exception)\b.*)$", re.MULTILINE)
_DETAILS = re.compile(r'^\s*details = "(.+)"$', re.MULTILINE)
"""How gRPC says why a connection to an engine broke."""
_SECRETS = ("--s3_access_key_id", "--s3_secret_access_key", "--s3_session_token")
_View = TypeVar("_View", bound=PipelineOptions)
_STATES = "apache_beam.runners.portability.portable_runner"


class _Options(PipelineOptions):
    """Beam's options, with one view of each class, and refusing unknown ones.

    Beam asks for a view 500 times while it makes a graph, and each time it would parse all
    arguments of the class again: a tenth of a second.
    """

    def view_as(self, cls: type[_View]) -> _View:
        views = self.__dict__.setdefault("_views", {})
        if cls not in views:
            views[cls] = super().view_as(cls)
        return views[cls]

    def get_all_options(
        self,
        drop_default: bool = False,
        add_extra_args_fn: Callable | None = None,
        retain_unknown_options: bool = False,
        display_warnings: bool = False,
        current_only: bool = False,
    ) -> dict[str, Any]:
        """The options by name; a job server gives `add_extra_args_fn`, which adds its own.

        Raises:
          InputError: if one is unknown to it, too: Beam would leave it out silently.
        """
        if add_extra_args_fn is not None and not retain_unknown_options:
            self.require_known(add_extra_args_fn)
        return super().get_all_options(
            drop_default,
            add_extra_args_fn,
            retain_unknown_options,
            display_warnings=display_warnings,
            current_only=current_only,
        )

    def require_known(self, add_extra_args_fn: Callable | None = None) -> None:
        """Checks that every option is Beam's, or one that the function adds to its parser.

        Raises:
          InputError: if one is unknown.
        """
        known, with_unknown = (
            super(_Options, self).get_all_options(False, add_extra_args_fn, retain)
            for retain in (False, True)
        )
        if unknown := with_unknown.keys() - known.keys():
            raise InputError(
                f"unknown option --{min(unknown)}; accepted: the ones that --help lists and "
                "Beam's pipeline options"
            )


def pipeline_options(beam_arguments: list[str]) -> PipelineOptions:
    """Beam's options, with the local runner as the default.

    Raises:
      InputError: if an argument is unknown.
    """
    for before, argument in itertools.pairwise(["", *beam_arguments]):
        if not argument.startswith("-") and (not before.startswith("--") or "=" in before):
            raise InputError(f"unexpected argument {argument!r}; every option begins with --")
    _refuse_secrets(beam_arguments)
    options = _Options(beam_arguments)
    workers = options.view_as(DirectOptions).direct_num_workers
    if workers < 0:
        raise InputError(f"--direct_num_workers: {workers} is not 0 or more")
    standard = options.view_as(StandardOptions)
    if standard.runner is None or standard.runner.lower() in _NAMES_OF_LOCAL:
        standard.runner = LOCAL_RUNNER
    if not is_local(options):
        _log_states_only()
    else:
        # The local workers log each error that the job then fails with.
        logging.getLogger("apache_beam").setLevel(logging.CRITICAL)
    if not standard.runner.lower().startswith(_WITH_A_JOB_SERVER):
        options.require_known()
    reach_object_stores(options)
    return options


def _refuse_secrets(beam_arguments: list[str]) -> None:
    """Refuses credentials on the command line: claims, engines and workers write it into logs."""
    for argument in beam_arguments:
        name = argument.partition("=")[0]
        if name in _SECRETS:
            raise InputError(
                f"{name}: credentials are not accepted on the command line, which logs show; set "
                "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, here and where workers run, or give "
                "the machines a role"
            )


def is_local(options: PipelineOptions) -> bool:
    """Whether the job runs in this process and its children."""
    return options.view_as(StandardOptions).runner == LOCAL_RUNNER


def make_pipeline(options: PipelineOptions) -> beam.Pipeline:
    """An empty pipeline on the runner that the options name.

    Raises:
      InputError: if there is no such runner.
    """
    end_bundles_soon()
    try:
        return beam.Pipeline(options=options)
    except (ValueError, ImportError, AttributeError) as error:
        raise InputError(f"--runner {options.view_as(StandardOptions).runner}: {error}") from error


def run_pipeline(pipeline: beam.Pipeline, *, local: bool) -> None:
    """Runs a pipeline to its end.

    Raises:
      InputError: if the machine refused something, or the job failed on an engine; in one line.
      DamagedFileError: if a file has changed since it was written.
    """
    try:
        pipeline.run().wait_until_finish()
    except InputError:
        raise
    except Exception as error:
        # Beam raises the error itself, or one of its own with the traceback as its message.
        damaged = _DAMAGED.search(f"{type(error).__name__}: {error}")
        if damaged:
            raise DamagedFileError(damaged[1]) from error
        refused = re.search(r"\w*Error: \[Errno \d+\].*", str(error))
        if refused:
            raise InputError(f"the job stopped: {refused.group()}") from error
        if not local:
            raise InputError(f"the job stopped: {cause_of(str(error))}") from error
        raise


def _log_states_only() -> None:
    """Logs when the job's state changes, and nothing else of Beam's."""
    # What engines report, tracebacks included, goes through the root logger.
    logging.getLogger().setLevel(logging.CRITICAL)
    logging.getLogger("apache_beam").setLevel(logging.CRITICAL)
    # Beam's thread that waits for the engine fails with it; the main thread reports that.
    threading.excepthook = lambda _: None
    states = logging.getLogger(_STATES)
    states.setLevel(logging.INFO)
    states.addFilter(lambda record: "state changed" in record.getMessage())


def cause_of(failure: str) -> str:
    """The one line of a failure's report that names the cause.

    It is the last line that names an exception, since causes come after what they caused and
    Python's own come last; else the last line of all.
    """
    causes = _CAUSE.findall(failure) or _DETAILS.findall(failure)
    lines = [line.strip() for line in failure.splitlines() if line.strip()]
    return (causes or lines or ["no reason given"])[-1].strip()

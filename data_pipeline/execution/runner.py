"""Beam's options: which runner, and whether it can be had."""

import itertools
import logging

import apache_beam as beam
from apache_beam.options.pipeline_options import DirectOptions, PipelineOptions, StandardOptions

from data_pipeline.errors import InputError
from data_pipeline.execution.engine import hear_states_only

# DirectRunner would first look for Prism, a program that it downloads, and fall back silently.
LOCAL_RUNNER = "FnApiRunner"


def pipeline_options(beam_arguments: list[str]) -> PipelineOptions:
    """Beam's options, with the local runner where none is named.

    Raises:
      InputError: if there is an argument that nobody knows.
    """
    for before, argument in itertools.pairwise(["", *beam_arguments]):
        if not argument.startswith("-") and (not before.startswith("--") or "=" in before):
            raise InputError(f"unexpected argument {argument!r}; every option begins with --")
    options = PipelineOptions(beam_arguments)
    workers = options.view_as(DirectOptions).direct_num_workers
    if workers < 0:
        raise InputError(f"--direct_num_workers: {workers} is not 0 or more")
    standard = options.view_as(StandardOptions)
    if standard.runner is None:
        standard.runner = LOCAL_RUNNER
    if not is_local(options):
        hear_states_only()
    else:
        # The local workers log each error that the job then fails with.
        logging.getLogger("apache_beam").setLevel(logging.CRITICAL)
        # Other runners know options of their own, and answer for them.
        known = options.get_all_options()
        unknown = options.get_all_options(retain_unknown_options=True).keys() - known.keys()
        if unknown:
            raise InputError(
                f"unknown option --{min(unknown)}; accepted are the ones that --help lists and "
                "Beam's pipeline options"
            )
    return options


def is_local(options: PipelineOptions) -> bool:
    """Whether the job runs in this process and its children."""
    return options.view_as(StandardOptions).runner == LOCAL_RUNNER


def make_pipeline(options: PipelineOptions) -> beam.Pipeline:
    """An empty pipeline on the runner that the options name.

    Raises:
      InputError: if there is no such runner.
    """
    try:
        return beam.Pipeline(options=options)
    except (ValueError, ImportError, AttributeError) as error:
        raise InputError(f"--runner {options.view_as(StandardOptions).runner}: {error}") from error

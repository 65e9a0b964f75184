"""The command around the Beam graph: check what is asked, run, publish, tell.

python -m data_pipeline reddit --input 'dumps/RC_*.zst' --output pairs/ --runner=FlinkRunner
"""

import argparse
import itertools
import logging
import re
from collections import Counter
from pathlib import Path
from typing import Any

import apache_beam as beam
import orjson
from apache_beam.options.pipeline_options import PipelineOptions, StandardOptions
from tabulate import tabulate

from data_pipeline import reddit, splits
from data_pipeline.dumps import Dump, find_dumps
from data_pipeline.errors import InputError
from data_pipeline.output import OutputFolder, read_text
from data_pipeline.shards import Sharding
from data_pipeline.statistics import as_statistics, as_table

# DirectRunner would first look for Prism, a program that it downloads, and fall back silently.
LOCAL_RUNNER = "FnApiRunner"
_INPUT_BYTES_A_PART = 32 << 20
"""Compressed input for one bucket of the join and one train shard; some 300 MB of text."""
_MIN_PARTS = 16
_LOG = logging.getLogger(__name__)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the job's own options; all others go to Beam."""
    parser.add_argument(
        "--input",
        required=True,
        nargs="+",  # for a pattern that the shell has already expanded
        metavar="GLOB[,GLOB...]",
        help="comment dumps, plain, .gz, .bz2, .xz or .zst, local or on a Beam filesystem",
    )
    parser.add_argument("--output", required=True, metavar="DIR", help="the folder to write")
    parser.add_argument(
        "--test_fraction", type=float, default=0.1, help="part of the pairs held out, in [0, 1)"
    )
    parser.add_argument(
        "--split_by",
        choices=splits.SPLIT_BY,
        default=splits.THREAD,
        help="thread: all pairs of a thread on one side; pair: the paper's random split",
    )
    parser.add_argument("--train_shards", type=int, help="default: by the input's size, 16 or more")
    parser.add_argument("--test_shards", type=int, help="default: by the input's size, 1 or more")
    parser.add_argument(
        "--overwrite", action="store_true", help="replace the output of another job"
    )


def run(arguments: argparse.Namespace, beam_arguments: list[str]) -> None:
    """Runs the whole job.

    Raises:
      InputError: if the input, the output or an option is not as it must be.
    """
    options = _pipeline_options(beam_arguments)
    try:
        pipeline = beam.Pipeline(options=options)
    except (ValueError, ImportError, AttributeError) as error:
        raise InputError(f"--runner {options.view_as(StandardOptions).runner}: {error}") from error
    patterns = [part.strip() for given in arguments.input for part in given.split(",")]
    dumps = find_dumps(list(filter(None, patterns)))
    if not dumps:
        raise InputError("--input: names no file; accepted are file names and patterns")
    parts = max(_MIN_PARTS, sum(dump.size for dump in dumps) // _INPUT_BYTES_A_PART)
    sharding = _sharding(arguments, parts)
    output = OutputFolder(arguments.output)
    job = _describe(dumps, sharding)
    if not arguments.overwrite and output.is_complete(job):
        print(f"{arguments.output} is complete already; nothing to do")
        return
    output.start()
    _LOG.info("pairing %d files, %.1f MB", len(dumps), sum(dump.size for dump in dumps) / 1e6)
    plan = reddit.Plan(dumps, folder=output.incomplete, sharding=sharding, buckets=parts)
    reddit.build(pipeline, plan)
    _run_to_the_end(pipeline)
    _finish(output, job)


def _run_to_the_end(pipeline: beam.Pipeline) -> None:
    """Runs a pipeline; what the machine refused (a full disk, say) is told in one line."""
    try:
        pipeline.run().wait_until_finish()
    except Exception as error:
        refused = re.search(r"\w*Error: \[Errno \d+\].*", str(error))
        if refused:
            raise InputError(f"the job stopped: {refused.group()}") from error
        raise


def _finish(output: OutputFolder, job: dict[str, Any]) -> None:
    report = orjson.loads(read_text(reddit.report_path(output.incomplete)))
    if report["unreadable"]:
        output.discard()
        raise InputError("; ".join(report["unreadable"]))
    statistics = as_statistics(Counter(report["counts"]))
    output.publish(statistics=statistics, job=job)
    print(tabulate(as_table(statistics), disable_numparse=True, colalign=("left", "right")))
    print(f"written to {output.path}")


def _pipeline_options(beam_arguments: list[str]) -> PipelineOptions:
    for before, argument in itertools.pairwise(["", *beam_arguments]):
        if not argument.startswith("-") and (not before.startswith("--") or "=" in before):
            raise InputError(f"unexpected argument {argument!r}; every option begins with --")
    options = PipelineOptions(beam_arguments)
    standard = options.view_as(StandardOptions)
    if standard.runner is None:
        standard.runner = LOCAL_RUNNER
    # A remote engine's state is worth hearing of; the local workers log each error that the
    # job then fails with.
    local = standard.runner == LOCAL_RUNNER
    logging.getLogger("apache_beam").setLevel(logging.CRITICAL if local else logging.INFO)
    if local:
        # Other runners know options of their own, and answer for them.
        known = options.get_all_options()
        unknown = options.get_all_options(retain_unknown_options=True).keys() - known.keys()
        if unknown:
            raise InputError(
                f"unknown option --{min(unknown)}; accepted are the ones that --help lists and "
                "Beam's pipeline options"
            )
    return options


def _sharding(arguments: argparse.Namespace, parts: int) -> Sharding:
    if not 0 <= arguments.test_fraction < 1:
        raise InputError(f"--test_fraction: {arguments.test_fraction} is not in [0, 1)")
    sharding = Sharding(
        split_by=arguments.split_by,
        test_fraction=arguments.test_fraction,
        train_shards=parts if arguments.train_shards is None else arguments.train_shards,
        test_shards=(
            max(1, round(parts * arguments.test_fraction))
            if arguments.test_shards is None
            else arguments.test_shards
        ),
    )
    for name in ("train_shards", "test_shards"):
        if getattr(sharding, name) < 1:
            raise InputError(f"--{name}: {getattr(sharding, name)} is not 1 or more")
    return sharding


def _describe(dumps: list[Dump], sharding: Sharding) -> dict[str, Any]:
    """What makes two commands the same job: the inputs and the options that shape the output."""
    inputs = {
        dump.path if "://" in dump.path else str(Path(dump.path).resolve()): dump.size
        for dump in dumps
    }
    return {"inputs": inputs, **sharding._asdict()}

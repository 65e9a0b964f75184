"""The command around the Beam graph: check what is asked, run, publish, tell.

python -m data_pipeline reddit --input 'dumps/RC_*.zst' --output pairs/ --runner=FlinkRunner
"""

import argparse
import logging

import apache_beam as beam
from tabulate import tabulate

from data_pipeline.cache.input_cache import Months
from data_pipeline.card.statistics import as_table
from data_pipeline.errors import InputError
from data_pipeline.execution.blocks import DamagedFileError
from data_pipeline.execution.job import (
    find_inputs,
    is_done,
    require_apart,
    run_to_the_end,
)
from data_pipeline.execution.local_machine import choose_workers, quiet_processes, require_memory
from data_pipeline.execution.progress import Watch
from data_pipeline.execution.runner import is_local, make_pipeline, pipeline_options
from data_pipeline.files.inputs import Dump, full_path
from data_pipeline.files.output_folder import OutputFolder, require_folder_name
from data_pipeline.reddit import options
from data_pipeline.reddit import pipeline as reddit
from data_pipeline.reddit.publish import publish

_LOG = logging.getLogger(__name__)


def run(arguments: argparse.Namespace, beam_arguments: list[str]) -> None:
    """Runs the whole job.

    Raises:
      InputError: if the input, the output or an option is not as it must be.
    """
    beam_options = pipeline_options(beam_arguments)
    dumps = find_inputs(arguments.input)
    stored_bytes = sum(dump.size for dump in dumps)
    asked = options.check(arguments, stored_bytes=stored_bytes)
    output = OutputFolder(arguments.output)
    if arguments.months is not None:
        require_folder_name("--months", arguments.months)
        if full_path(Dump(arguments.months, 0)) == full_path(Dump(output.path, 0)):
            raise InputError(f"--months: {arguments.months!r} is --output; name another folder")
    require_apart({"--output": output.path, "--months": arguments.months or output.months}, dumps)
    with output.claimed():
        if not arguments.overwrite and is_done(output, dumps, asked.description):
            print(f"{arguments.output} is complete already; nothing to do")
            return
        local = is_local(beam_options)
        months = Months(
            arguments.months or output.months,
            asked.selection,
            compressed=not local,
            max_dead_letters=asked.limits.max_dead_letters,
        )
        workers = 1
        if local:
            workers = choose_workers(beam_options, beam_arguments, stored_bytes=stored_bytes)
            require_memory(dumps, buckets=asked.buckets, workers=workers)
        pipeline = make_pipeline(beam_options)
        output.start()
        plan = reddit.Plan(
            dumps,
            months,
            folder=output.incomplete,
            sharding=asked.sharding,
            buckets=asked.buckets,
            blocks_at_hand=not local,
            max_copies_of_pair=asked.max_copies_of_pair,
            excluded=asked.excluded,
            limits=asked.limits,
        )
        with months.in_use(private=arguments.months is None):
            _LOG.info("pairing %d files, %.1f MB", len(dumps), stored_bytes / 1e6)
            _work(pipeline, plan, workers=workers, local=local)
            statistics = publish(output, plan, asked.description)
        if arguments.discard_months:
            months.discard(dumps)
    print(tabulate(as_table(statistics), disable_numparse=True, colalign=("left", "right")))
    print(f"written to {output.path}; {output.path}/data_card.html shows what it is")


def _work(pipeline: beam.Pipeline, plan: reddit.Plan, *, workers: int, local: bool) -> None:
    """Runs the graph, with a progress bar.

    Raises:
      InputError: if the job failed for a reason that the user can mend.
    """
    reddit.build(pipeline, plan)
    stored_bytes = sum(dump.size for dump in plan.dumps)
    try:
        with (
            quiet_processes(workers) as stream,
            Watch(plan.folder, stored_bytes=stored_bytes, buckets=plan.buckets, stream=stream),
        ):
            run_to_the_end(pipeline, local=local)
    except DamagedFileError as error:
        path = str(error)
        plan.months.forget(path)
        raise InputError(
            f"{path} is not what was written there: its checksum has changed. The same command "
            "reads that dump again"
        ) from error

"""Any source's job: check the folders, run the Beam graph, publish the pairs."""

import logging
from collections.abc import Sequence
from functools import partial
from itertools import chain, groupby
from typing import Any

import psutil

from common.errors import InputError
from data_pipeline.execution.job import JobResult, run_graph, run_job
from data_pipeline.execution.progress import JOINING, READING
from data_pipeline.execution.runner import choose_workers, pipeline_options
from data_pipeline.job.graph import build
from data_pipeline.job.plan import plan_of
from data_pipeline.job.publish import Inputs, publish
from data_pipeline.job.read import FileRead, write_dead_letters
from data_pipeline.pairs.options import PairOptions
from data_pipeline.storage.inputs import InputFile, find_inputs
from data_pipeline.storage.output_folder import OutputFolder
from data_pipeline.storage.shares import share_out

_LOG = logging.getLogger(__name__)


def make_pairs(options: PairOptions, *, beam_arguments: Sequence[str] = ()) -> JobResult:
    """Makes input-response pairs of the messages of some files, with an Apache Beam job.

    Args:
      options: `RedditOptions`, `ConversationOptions` or `RowOptions`; `sample` makes pairs of the
        first messages of each file only.
      beam_arguments: Beam's pipeline options, such as "--runner=FlinkRunner".

    Raises:
      InputError: if an input, the output or an option is invalid, or no pair is found.
      ClaimedError: if another job works in the output folder.
    """
    beam_options = pipeline_options(beam_arguments)
    files = find_inputs(options.inputs)
    plan = plan_of(options, files)

    def work(output: OutputFolder) -> dict[str, Any]:
        workers = choose_workers(beam_options, beam_arguments, stored_bytes=plan.stored_bytes)
        by_line = {file: plan.source.reads_parts(file) for file in files}
        memory = psutil.virtual_memory().available // 4
        shares = share_out(by_line, workers=workers, memory=memory)
        number = {file.path: number for number, file in enumerate(files)}
        in_order = sorted(chain(*shares), key=lambda part: (number[part.path], part.start))
        positions = {part: position for position, part in enumerate(in_order)}
        # Largest first: runners that deal out the shares in turn give each worker about as much.
        shares.sort(key=lambda share: -sum(part.stored_bytes for part in share))
        numbered = [[(positions[part], part) for part in share] for share in shares]
        about = len(files), plan.stored_bytes / 1e6, plan.partitions
        _LOG.info("pairing %d files, %.1f MB, in %d partitions", *about)
        stored_bytes = sum(file.size for file in files)
        stages = (READING, stored_bytes, "B"), (JOINING, plan.partitions, " partitions")
        graph = partial(build, plan=plan, shares=numbered)
        report = run_graph(output, beam_options, graph, workers=workers, stages=stages)
        reads = sorted(FileRead(*each) for each in report.inputs)
        inputs = _inputs_read(files, reads)
        dead_letters, reasons = write_dead_letters(output.incomplete, reads)
        report.files.append(dead_letters)
        return publish(output, report, inputs, plan, reasons=reasons)

    return run_job(options, files, plan.describe(), work)


def _inputs_read(files: list[InputFile], reads: list[FileRead]) -> Inputs:
    """Each file's entry in COMPLETED, and what was read of its parts.

    Raises:
      InputError: if one has changed meanwhile.
    """
    by_file = groupby(reads, key=lambda read: read.about["path"])
    inputs = []
    for file, (_, its) in zip(files, by_file, strict=True):
        of_file = list(its)
        about = of_file[-1].about
        if not file.was_left_alone(about):
            raise InputError(
                f"--input: {file.path!r} changed while it was read; accepted: files that nobody "
                "writes to"
            )
        inputs.append((about, of_file))
    return inputs

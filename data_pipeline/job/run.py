"""Any source's job: check the folders, run the Beam graph, publish the pairs."""

import logging
from collections.abc import Sequence
from functools import partial
from typing import Any

from common.errors import InputError
from data_pipeline.execution.job import JobResult, run_graph, run_job
from data_pipeline.execution.progress import JOINING, READING
from data_pipeline.execution.runner import choose_workers, pipeline_options
from data_pipeline.job.graph import build
from data_pipeline.job.plan import plan_of
from data_pipeline.job.publish import publish
from data_pipeline.job.read import FileRead, NumberedFile, write_dead_letters
from data_pipeline.pairs.options import PairOptions
from data_pipeline.storage.inputs import InputFile, find_inputs
from data_pipeline.storage.output_folder import OutputFolder

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
        about = len(files), plan.stored_bytes / 1e6, plan.partitions
        _LOG.info("pairing %d files, %.1f MB, in %d partitions", *about)
        stored_bytes = sum(file.size for file in files)
        stages = (READING, stored_bytes, "B"), (JOINING, plan.partitions, " partitions")
        shares = share_out(files, workers)
        graph = partial(build, plan=plan, shares=shares)
        report = run_graph(output, beam_options, graph, workers=workers, stages=stages)
        reads = sorted(FileRead(*each) for each in report.inputs)
        _require_left_alone(files, reads)
        dead_letters, reasons = write_dead_letters(output.incomplete, reads)
        report.files.append(dead_letters)
        return publish(output, report, reads, plan, reasons=reasons)

    return run_job(options, files, plan.describe(), work)


def share_out(files: Sequence[InputFile], workers: int) -> list[list[NumberedFile]]:
    """The files that each worker reads, about as much each; on an engine (0) one file a share.

    Beam's local runner deals out all work before it begins.
    """
    numbered = sorted(enumerate(files), key=lambda each: -each[1].size)
    if not workers:
        return [[each] for each in numbered]
    shares: list[list[NumberedFile]] = [[] for _ in range(workers)]
    bytes_of = [0] * workers
    for position, file in numbered:
        worker = bytes_of.index(min(bytes_of))
        shares[worker].append((position, file))
        bytes_of[worker] += file.size
    return shares


def _require_left_alone(files: Sequence[InputFile], reads: Sequence[FileRead]) -> None:
    """Raises an InputError if a file has changed since it was read."""
    for file, read in zip(files, reads, strict=True):
        if not file.was_left_alone(read.about):
            raise InputError(
                f"--input: {file.path!r} changed while it was read; accepted: files that nobody "
                "writes to"
            )

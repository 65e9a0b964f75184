"""Any source's job: check the folders, run the Beam graph, publish the pairs."""

import logging
from collections.abc import Sequence
from itertools import groupby
from typing import Any

import psutil

from common.errors import InputError
from data_pipeline.execution.exchange import Exchange
from data_pipeline.execution.job import JobResult, require_acceptable, run_job
from data_pipeline.execution.progress import shown_progress
from data_pipeline.execution.report import read_report
from data_pipeline.execution.runner import (
    choose_workers,
    is_local,
    make_pipeline,
    pipeline_options,
    quiet_processes,
    run_pipeline,
)
from data_pipeline.job.graph import build
from data_pipeline.job.plan import plan_of
from data_pipeline.job.publish import Inputs, publish, wanted_pairs
from data_pipeline.job.read import FileRead, merged, write_dead_letters
from data_pipeline.pairs.options import PairOptions
from data_pipeline.sources.source import Source
from data_pipeline.storage.inputs import InputFile, find_inputs, require_apart
from data_pipeline.storage.output_folder import OutputFolder
from data_pipeline.storage.parts import Parts, parts_of
from data_pipeline.storage.shares import Shares, share_out

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
    files = find_inputs(options.input)
    plan = plan_of(options, files)
    folder = OutputFolder(options.output)
    require_apart({"--output": options.output}, files)

    def work() -> dict[str, Any]:
        workers = choose_workers(beam_options, beam_arguments, stored_bytes=plan.stored_bytes)
        pipeline = make_pipeline(beam_options)
        folder.start()
        shares = _shares_of(files, plan.source, workers=workers)
        in_order = _in_reading_order(files, shares)
        positions = {part: position for position, part in enumerate(in_order)}
        # Largest first: runners that deal out the shares in turn give each worker about as much.
        shares.sort(key=lambda share: -sum(part.stored_bytes for part in share))
        build(
            pipeline,
            plan,
            Exchange(folder.incomplete, inline=not is_local(beam_options)),
            [[(positions[part], part) for part in share] for share in shares],
        )
        _LOG.info(
            *("pairing %d files, %.1f MB, in %d partitions", len(files)),
            *(plan.stored_bytes / 1e6, plan.partitions),
        )
        with (
            quiet_processes(workers) as stream,
            shown_progress(
                folder.incomplete,
                stored_bytes=sum(part.stored_bytes for part in in_order),
                partitions=plan.partitions,
                stream=stream,
            ),
        ):
            run_pipeline(pipeline)
        report = read_report(folder)
        reads = sorted(FileRead(*each) for each in report.inputs)
        report.files.append(write_dead_letters(folder.incomplete, reads))
        return publish(folder, report, _inputs_read(files, in_order, reads), plan)

    def accept(statistics: dict[str, Any]) -> None:
        require_acceptable(statistics, options, pairs=wanted_pairs(plan, statistics))

    return run_job(
        folder, files, plan.describe(), overwrite=options.overwrite, work=work, accept=accept
    )


def _shares_of(files: list[InputFile], source: Source, *, workers: int) -> Shares:
    """The files, and parts of large ones, by who reads them."""
    parts = {
        file: parts_of(file) if source.reads_parts(file) else Parts([file], by_line=False)
        for file in files
    }
    if workers > 1:
        memory = psutil.virtual_memory().available // 4
        return share_out(parts, workers=workers, memory=memory)
    return [[part] for its in parts.values() for part in its.files]


def _in_reading_order(files: list[InputFile], shares: Shares) -> list[InputFile]:
    order = {file.path: number for number, file in enumerate(files)}
    parts = [part for share in shares for part in share]
    return sorted(parts, key=lambda part: (order[part.path], part.start))


def _inputs_read(files: list[InputFile], parts: list[InputFile], reads: list[FileRead]) -> Inputs:
    """The files, and what was read of each.

    Raises:
      InputError: if one has changed meanwhile.
    """
    for part, read in zip(parts, reads, strict=True):
        if not part.was_left_alone(read.about):
            raise InputError(
                f"--input: {part.path!r} changed while it was read; accepted: files that nobody "
                "writes to"
            )
    by_file = groupby(reads, key=lambda read: parts[read.position].path)
    return [(file, merged(list(its))) for file, (_, its) in zip(files, by_file, strict=True)]

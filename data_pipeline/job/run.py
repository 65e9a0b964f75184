"""Any source's job: check the folders, run the Beam graph, publish the pairs."""

import logging
from collections.abc import Sequence
from typing import Any

import apache_beam as beam
import psutil

from common.errors import InputError
from data_pipeline.execution.acceptance import require_acceptable
from data_pipeline.execution.exchange import Exchange
from data_pipeline.execution.job import JobResult, run_job
from data_pipeline.execution.progress import Watch
from data_pipeline.execution.report import Report, read_report
from data_pipeline.execution.runner import (
    choose_workers,
    is_local,
    make_pipeline,
    pipeline_options,
    quiet_processes,
    run_pipeline,
)
from data_pipeline.job.graph import Plan, build
from data_pipeline.job.publish import Inputs, publish, wanted_pairs
from data_pipeline.job.read import INPUTS, FileRead, merged
from data_pipeline.job.settings import settings_of
from data_pipeline.pairs.options import HALVES, PairOptions
from data_pipeline.sources.first_messages import FirstMessages
from data_pipeline.sources.halves import Halves
from data_pipeline.sources.source import Source
from data_pipeline.storage.inputs import InputFile, find_inputs, require_apart
from data_pipeline.storage.output_folder import OutputFolder
from data_pipeline.storage.parts import Parts, parts_of
from data_pipeline.storage.shares import Shares, share_out

_LOG = logging.getLogger(__name__)

_BYTES_A_MESSAGE = 1000
"""Stored bytes, at most: the long comments of a dump take 1,073 before compression."""


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
    stored_bytes = sum(file.size for file in files)
    source = options.source(files)
    if options.pairs_of == HALVES:
        source = Halves(source)
    if options.sample is not None:
        source = FirstMessages(source, options.sample)
        most = options.sample * _BYTES_A_MESSAGE
        stored_bytes = sum(min(file.size, most) for file in files)
    settings = settings_of(options, stored_bytes=stored_bytes)
    folder = OutputFolder(options.output)
    require_apart({"--output": options.output}, files)

    def work() -> dict[str, Any]:
        workers = choose_workers(beam_options, beam_arguments, stored_bytes=stored_bytes)
        pipeline = make_pipeline(beam_options)
        folder.start()
        parts, shares = _dealt_out(files, source, workers=workers)
        plan = Plan(
            [part for file in files for part in parts[file].files],
            shares,
            source,
            Exchange(folder.incomplete, inline=not is_local(beam_options)),
            settings,
        )
        _LOG.info(
            *("pairing %d files, %.1f MB, in %d partitions", len(files), stored_bytes / 1e6),
            settings.partitions,
        )
        _run(pipeline, plan, workers=workers)
        report = read_report(folder)
        return publish(folder, report, _inputs_read(report, parts), settings, source)

    def accept(statistics: dict[str, Any]) -> None:
        pairs = wanted_pairs(settings, statistics)
        require_acceptable(statistics, settings.limits, pairs=pairs)

    return run_job(
        *(folder, files, settings.description),
        overwrite=options.overwrite,
        work=work,
        accept=accept,
    )


def _dealt_out(
    files: list[InputFile], source: Source, *, workers: int
) -> tuple[dict[InputFile, Parts], Shares]:
    """The parts in which each file is read, and who reads them."""
    parts = {
        file: parts_of(file) if source.reads_parts(file) else Parts([file], by_line=False)
        for file in files
    }
    if workers <= 1:
        return parts, [[part] for its in parts.values() for part in its.files]
    memory = psutil.virtual_memory().available // 4
    shares = share_out(parts, workers=workers, memory=memory)
    dealt: dict[str, list[InputFile]] = {file.path: [] for file in files}
    for part in (part for share in shares for part in share):
        dealt[part.path].append(part)
    in_order = {
        file: its._replace(files=sorted(dealt[file.path], key=lambda part: part.start))
        for file, its in parts.items()
    }
    return in_order, shares


def _run(pipeline: beam.Pipeline, plan: Plan, *, workers: int) -> None:
    """Runs the graph, with a progress bar."""
    build(pipeline, plan)
    stored_bytes = sum(file.stored_bytes for file in plan.inputs)
    with (
        quiet_processes(workers) as stream,
        Watch(
            plan.folder,
            stored_bytes=stored_bytes,
            partitions=plan.settings.partitions,
            stream=stream,
        ),
    ):
        run_pipeline(pipeline)


def _inputs_read(report: Report, parts: dict[InputFile, Parts]) -> Inputs:
    """The files, and what was read of each.

    Raises:
      InputError: if one has changed meanwhile.
    """
    found = iter(sorted(FileRead(*each) for each in report.more[INPUTS]))
    inputs = []
    for file, its in parts.items():
        reads = [next(found) for _ in its.files]
        for part, read in zip(its.files, reads, strict=True):
            if not part.was_left_alone(read.about):
                raise InputError(
                    f"--input: {file.path!r} changed while it was read; accepted: files that "
                    "nobody writes to"
                )
        inputs.append((file, merged(reads)))
    return inputs

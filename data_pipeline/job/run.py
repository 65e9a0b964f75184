"""Any source's job: check the folders, run the Beam graph, publish the pairs."""

import logging
import os
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import apache_beam as beam
from apache_beam.io.filesystems import FileSystems
from apache_beam.options.pipeline_options import PipelineOptions

from common.errors import InputError
from data_pipeline.cache.input_cache import InputCache
from data_pipeline.cache.parts import manifest_of
from data_pipeline.execution.acceptance import require_still_accepted
from data_pipeline.execution.forked_workers import forked_workers
from data_pipeline.execution.job import JobResult, run_job
from data_pipeline.execution.local_machine import (
    are_processes,
    choose_workers,
    free_memory,
    quiet_processes,
    require_memory,
)
from data_pipeline.execution.progress import Watch
from data_pipeline.execution.report import read_report
from data_pipeline.execution.runner import (
    is_local,
    make_pipeline,
    pipeline_options,
    run_pipeline,
)
from data_pipeline.execution.shuffle import DamagedFileError
from data_pipeline.job.graph import Plan, build
from data_pipeline.job.join import SUBPARTITIONS
from data_pipeline.job.options import describe_partitions
from data_pipeline.job.publish import publish, wanted_pairs
from data_pipeline.job.settings import Settings
from data_pipeline.sources.source import Source
from data_pipeline.storage.filesystem import absolute_path, full_path, is_remote
from data_pipeline.storage.inputs import (
    InputFile,
    find_inputs,
    require_apart,
    require_folder_name,
)
from data_pipeline.storage.output_folder import OutputFolder
from data_pipeline.storage.parts import Parts, parts_of
from data_pipeline.storage.shares import Shares, share_out

_LOG = logging.getLogger(__name__)
_LARGE = 256 << 20
"""Bytes as stored, which take a minute."""

Prepare = Callable[[list[InputFile]], tuple[Source, Settings]]
"""Checks a command's options; makes the source of the files, and the settings."""


def make_pairs(
    inputs: Sequence[str],
    output: str,
    *,
    prepare: Prepare,
    cache: str | None = None,
    overwrite: bool = False,
    beam_arguments: Sequence[str] = (),
    bytes_a_file: int | None = None,
) -> JobResult:
    """Makes input-response pairs of the messages of some files, with an Apache Beam job.

    Args:
      inputs: file names or patterns.
      output: the folder to write.
      prepare: makes the source of the files, and the settings.
      cache: a folder that keeps the read inputs for later jobs.
      overwrite: whether to replace the output of another job.
      beam_arguments: Beam's pipeline options, such as "--runner=FlinkRunner".
      bytes_a_file: about as much of each file is read; None for all of it.

    Raises:
      InputError: if an input, the output or an option is invalid, or no pair is found.
      ClaimedError: if another job works in the output folder.
    """
    beam_options = pipeline_options(list(beam_arguments))
    files = find_inputs(inputs)
    most = bytes_a_file
    begins = [file if most is None else file._replace(size=min(file.size, most)) for file in files]
    stored_bytes = sum(file.size for file in begins)
    source, settings = prepare(begins)
    folder = OutputFolder(output)
    _require_folders(files, output=output, cache=cache)

    def work() -> dict[str, Any]:
        local = is_local(beam_options)
        workers = 1
        if local:
            workers = choose_workers(beam_options, beam_arguments, stored_bytes=stored_bytes)
            require_memory(begins, partitions=settings.partitions, workers=workers)
        pipeline = make_pipeline(beam_options)
        folder.start()
        input_cache = InputCache(
            absolute_path(cache) if cache else FileSystems.join(folder.incomplete, "inputs"),
            source,
            compressed=not local,
            max_dead_letters=settings.limits.max_dead_letters,
            subpartitions=SUBPARTITIONS if cache else settings.partitions,
        )
        parts, shares = _parts_of(files, source)
        # A cache is for jobs with any number of workers.
        if local and cache is None and are_processes(beam_options, workers):
            shares = share_out(parts, workers=workers, memory=free_memory() // 4)
            parts = _as_shared(parts, shares)
        in_order = [part for file in files for part in parts[file].files]
        plan = Plan(
            *(in_order, shares, input_cache, folder.incomplete),
            inline=not local,
            settings=settings,
        )
        with input_cache.in_use() if cache else nullcontext():
            _tell_of_job(begins, partitions=settings.partitions)
            if bytes_a_file is None and (workers > 1 or not local):
                _tell_of_parts(parts)
            _run(pipeline, plan, beam_options, workers=workers)
            report = read_report(folder)
            inputs_read = [(file, _manifest(input_cache, parts[file].files)) for file in files]
            return publish(folder, report, inputs_read, settings, source)

    return run_job(
        *(folder, files, settings.description),
        overwrite=overwrite,
        work=work,
        accept=partial(
            require_still_accepted,
            limits=settings.limits,
            pairs=partial(wanted_pairs, settings),
        ),
    )


def _parts_of(files: list[InputFile], source: Source) -> tuple[dict[InputFile, Parts], Shares]:
    """The parts of each file, which depend on the file alone, and each as a share of its own."""
    parts = {
        file: parts_of(file) if source.reads_parts(file) else Parts([file], by_line=False)
        for file in files
    }
    return parts, [[part] for its in parts.values() for part in its.files]


def _as_shared(parts: dict[InputFile, Parts], shares: Shares) -> dict[InputFile, Parts]:
    """The parts of each file, in reading order, as they were dealt out."""
    found: dict[str, list[InputFile]] = {file.path: [] for file in parts}
    for share in shares:
        for part in share:
            found[part.path].append(part)
    return {
        file: its._replace(files=sorted(found[file.path], key=lambda part: part.start))
        for file, its in parts.items()
    }


def _require_folders(files: list[InputFile], *, output: str, cache: str | None) -> None:
    """Checks that the job can write its folders, and that no input lies in one.

    Raises:
      InputError: if not.
    """
    if cache is not None:
        require_folder_name("--cache", cache)
        if full_path(cache) == full_path(output):
            raise InputError(f"--cache: {cache!r} is --output; name another folder")
        _require_no_file(cache)
    require_apart({"--output": output, **({"--cache": cache} if cache else {})}, files)


def _require_no_file(cache: str) -> None:
    """Checks that no file is where the cache, or a folder above it, is to be.

    Raises:
      InputError: if one is.
    """
    if is_remote(cache):
        return
    path = Path(absolute_path(cache))
    there = next((each for each in (path, *path.parents) if os.path.lexists(each)), path.parent)
    if not there.is_dir():
        what = "it" if there == path else there
        raise InputError(
            f"--cache: {cache}: {what} is not a folder; accepted: a folder, or none yet"
        )


def _tell_of_job(files: list[InputFile], *, partitions: int) -> None:
    """Logs how much is read, and in how many partitions it is joined."""
    noun = "file" if len(files) == 1 else "files"
    megabytes = sum(file.size for file in files) / 1e6
    in_partitions = describe_partitions(partitions)
    _LOG.info("pairing %d %s, %.1f MB, in %s", *(len(files), noun, megabytes, in_partitions))


def _tell_of_parts(parts: dict[InputFile, Parts]) -> None:
    """Logs which files are read in parts, and which large ones by one process each."""
    for file, (its_parts, why_whole, _) in parts.items():
        if len(its_parts) > 1:
            _LOG.info("%s is read in %d parts", file.path, len(its_parts))
        elif why_whole and file.size > _LARGE:
            _LOG.info(
                "%s (%.1f GB) is read by one process: %s (docs/engines.md)",
                *(file.path, file.size / 1e9, why_whole),
            )


def _manifest(cache: InputCache, parts: list[InputFile]) -> dict[str, Any]:
    cached = [cache.find(part) for part in parts]
    manifests = [each.about for each in cached if each is not None]
    if len(manifests) < len(parts) or not all(
        part.was_left_alone(about["input"]) for part, about in zip(parts, manifests, strict=True)
    ):
        raise InputError(
            f"--input: {parts[0].path!r} changed while it was read; accepted: files that nobody "
            "writes to"
        )
    return manifest_of(manifests)


def _run(
    pipeline: beam.Pipeline, plan: Plan, beam_options: PipelineOptions, *, workers: int
) -> None:
    """Runs the graph, with a progress bar.

    Raises:
      InputError: if the job failed for a reason that the user can fix.
    """
    build(pipeline, plan)
    stored_bytes = sum(file.stored_bytes for file in plan.inputs)
    partitions = plan.settings.partitions
    try:
        with (
            quiet_processes(workers) as stream,
            forked_workers(pipeline),
            Watch(plan.folder, stored_bytes=stored_bytes, partitions=partitions, stream=stream),
        ):
            run_pipeline(pipeline, local=is_local(beam_options))
    except DamagedFileError as error:
        path = str(error)
        plan.cache.forget(path)
        raise InputError(
            f"{path} has changed since it was written: its checksum differs. The same command "
            "reads that input file again"
        ) from error

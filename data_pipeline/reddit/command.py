"""The Reddit job: check the options, run the Beam graph, publish the pairs.

python -m data_pipeline reddit --input 'dumps/RC_*.zst' --output pairs/ --runner=FlinkRunner
"""

import logging
from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

import apache_beam as beam
from apache_beam.io.filesystems import FileSystems

from data_pipeline.cache.input_cache import InputCache
from data_pipeline.errors import InputError
from data_pipeline.execution.job import JobResult, run_job
from data_pipeline.execution.local_machine import choose_workers, quiet_processes, require_memory
from data_pipeline.execution.progress import Watch
from data_pipeline.execution.report import read_report
from data_pipeline.execution.runner import (
    is_local,
    make_pipeline,
    pipeline_options,
    run_pipeline,
)
from data_pipeline.execution.shuffle import DamagedFileError
from data_pipeline.files.filesystem import full_path
from data_pipeline.files.inputs import (
    InputFile,
    find_inputs,
    require_apart,
    require_folder_name,
)
from data_pipeline.files.output_folder import OutputFolder
from data_pipeline.reddit.options import RedditOptions, check
from data_pipeline.reddit.pipeline import Plan, build
from data_pipeline.reddit.publish import publish

_LOG = logging.getLogger(__name__)
_DEFAULT = RedditOptions()


def run_reddit(
    inputs: Sequence[str],
    output: str,
    *,
    options: RedditOptions = _DEFAULT,
    cache: str | None = None,
    overwrite: bool = False,
    beam_arguments: Sequence[str] = (),
) -> JobResult:
    """Makes input-response pairs of Reddit comment dumps, with an Apache Beam job.

    Args:
      inputs: file names or patterns of dumps, plain, .gz, .bz2, .xz or .zst.
      output: the folder to write.
      options: split, storage and filters; each has the name of its flag.
      cache: a folder that keeps the parsed dumps for later jobs.
      overwrite: whether to replace the output of another job.
      beam_arguments: Beam's pipeline options, such as "--runner=FlinkRunner".

    Raises:
      InputError: if an input, the output or an option is invalid, or no pair is found.
      ClaimedError: if another job works in the output folder.
    """
    beam_options = pipeline_options(list(beam_arguments))
    files = find_inputs(inputs)
    stored_bytes = sum(file.size for file in files)
    settings = check(options, stored_bytes=stored_bytes)
    folder = OutputFolder(output)
    if cache is not None:
        require_folder_name("--cache", cache)
        if full_path(cache) == full_path(output):
            raise InputError(f"--cache: {cache!r} is --output; name another folder")
    require_apart({"--output": output, **({"--cache": cache} if cache else {})}, files)

    def work() -> dict[str, Any]:
        local = is_local(beam_options)
        workers = 1
        if local:
            workers = choose_workers(beam_options, beam_arguments, stored_bytes=stored_bytes)
            require_memory(files, partitions=settings.partitions, workers=workers)
        pipeline = make_pipeline(beam_options)
        folder.start()
        input_cache = InputCache(
            cache or FileSystems.join(folder.incomplete, "inputs"),
            settings.selection,
            compressed=not local,
            max_dead_letters=settings.limits.max_dead_letters,
        )
        plan = Plan(files, input_cache, folder.incomplete, inline=not local, settings=settings)
        with input_cache.in_use() if cache else nullcontext():
            _LOG.info(
                "pairing %d files, %.1f MB, in %s",
                *(len(files), stored_bytes / 1e6, settings.describe_partitions()),
            )
            _run(pipeline, plan, workers=workers, local=local)
            report = read_report(folder)
            inputs_read = [(file, _manifest(input_cache, file)) for file in files]
            return publish(folder, report, inputs_read, settings)

    return run_job(folder, files, settings.description, overwrite=overwrite, work=work)


def _manifest(cache: InputCache, file: InputFile) -> dict[str, Any]:
    cached = cache.find(file)
    if cached is None:
        raise InputError(f"--input: {file.path!r} changed while it was read")
    return cached.about


def _run(pipeline: beam.Pipeline, plan: Plan, *, workers: int, local: bool) -> None:
    """Runs the graph, with a progress bar.

    Raises:
      InputError: if the job failed for a reason that the user can fix.
    """
    build(pipeline, plan)
    stored_bytes = sum(file.size for file in plan.inputs)
    partitions = plan.settings.partitions
    try:
        with (
            quiet_processes(workers) as stream,
            Watch(plan.folder, stored_bytes=stored_bytes, partitions=partitions, stream=stream),
        ):
            run_pipeline(pipeline, local=local)
    except DamagedFileError as error:
        path = str(error)
        plan.cache.forget(path)
        raise InputError(
            f"{path} has changed since it was written: its checksum differs. The same command "
            "reads that input file again"
        ) from error

"""The local runner on this machine: how many processes, whether memory suffices, what they log.

Each worker process sends its log records to this one, where Beam logs them as its own: the text
form of a protocol buffer on one line. Those of this package are logged again as they were; Beam's
own are dropped, since what fails comes with the failure of the job.
"""

import logging
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, TextIO

import psutil
from apache_beam.options.pipeline_options import DirectOptions, PipelineOptions
from apache_beam.portability.api import beam_fn_api_pb2
from google.protobuf import text_format

from common.errors import InputError
from data_pipeline.storage.inputs import InputFile
from data_pipeline.storage.lines import is_compressed

MULTI_PROCESSING = "multi_processing"
_STDERR = 2
_INPUT_BYTES_A_WORKER = 8 << 20
"""Another process takes some two seconds to start, which pays from this much stored input on."""


class _Memory(NamedTuple):
    """What the join takes of memory."""

    stored_bytes_a_comment: int
    """In a compressed dump: 46 in one with few fields, 88 in one of 2015, 247 in one with long
    comments."""
    plain_bytes_a_comment: int
    """The same uncompressed: 250, 640 and 1,073."""
    bytes_a_comment: int
    """At the peak of the join: benchmarks/speed/pipeline.py took 0.51 GiB with 315,000 comments a
    partition and 0.35 GiB with 133,000, (0.51 - 0.35) GiB / (315,000 - 133,000) = 940 bytes."""
    bytes_a_worker: int
    """Python, Beam, the lines and comments being read and the rows being packed."""

    def needed(self, inputs: list[InputFile], *, partitions: int, workers: int) -> float:
        """Bytes that the join of these files takes."""
        packed = sum(file.size for file in inputs if is_compressed(file))
        plain = sum(file.size for file in inputs) - packed
        comments = packed / self.stored_bytes_a_comment + plain / self.plain_bytes_a_comment
        return workers * (self.bytes_a_worker + comments / partitions * self.bytes_a_comment)


_AT_LEAST = _Memory(250, 1_100, 900, 250 << 20)
_AT_MOST = _Memory(46, 250, 1_000, 400 << 20)
_PACKAGE = Path(__file__).parents[1]
_WORKER_LOGGER = "apache_beam.runners.portability.local_job_service"
"""The logger of the records that workers send."""
_WORKER_FORMAT = "Worker: %s"
_LOG = logging.getLogger(__name__)


def choose_workers(options: PipelineOptions, given: Sequence[str], *, stored_bytes: int) -> int:
    """How many processes the local runner uses: all cores where the input is worth it.

    Sets Beam's options unless `given`, the user's arguments, has them, even as Beam's defaults.
    """
    direct = options.view_as(DirectOptions)
    if not any(argument.startswith("--direct_") for argument in given):
        cores = len(os.sched_getaffinity(0))
        direct.direct_num_workers = max(1, min(cores, stored_bytes // _INPUT_BYTES_A_WORKER))
        if direct.direct_num_workers > 1:
            direct.direct_running_mode = MULTI_PROCESSING
    return direct.direct_num_workers or os.cpu_count() or 1


def are_processes(options: PipelineOptions, workers: int) -> bool:
    """Whether the local runner's workers work at the same time, in a process each."""
    return workers > 1 and options.view_as(DirectOptions).direct_running_mode == MULTI_PROCESSING


@contextmanager
def quiet_processes(workers: int) -> Iterator[TextIO]:
    """Silences the stderr of Beam's processes, but not the log; yields a stream for the bar.

    They write about each channel that they open to the stderr that they inherit, and no option
    stops them. Their errors come with the failure of the job. What this package logs, in this
    process and in theirs, still reaches the user.
    """
    if workers == 1:
        yield sys.stderr
        return
    sys.stderr.flush()
    with Path(os.devnull).open("w") as nowhere, os.fdopen(os.dup(_STDERR), "w") as terminal:
        os.dup2(nowhere.fileno(), _STDERR)
        try:
            with _logging_to(terminal), _logs_of_workers():
                yield terminal
        finally:
            os.dup2(terminal.fileno(), _STDERR)


@contextmanager
def _logging_to(stream: TextIO) -> Iterator[None]:
    handlers = [
        handler
        for handler in logging.getLogger().handlers
        if isinstance(handler, logging.StreamHandler) and handler.stream is sys.stderr
    ]
    for handler in handlers:
        handler.setStream(stream)
    try:
        yield
    finally:
        for handler in handlers:
            handler.setStream(sys.stderr)


@contextmanager
def _logs_of_workers() -> Iterator[None]:
    """Logs what workers log, while they run."""
    logger = logging.getLogger(_WORKER_LOGGER)
    level = logger.level
    logger.setLevel(logging.INFO)
    logger.addFilter(_log_again)
    try:
        yield
    finally:
        logger.removeFilter(_log_again)
        logger.setLevel(level)


def _log_again(record: logging.LogRecord) -> bool:
    """A filter that drops every record, but logs those of this package again."""
    if record.msg == _WORKER_FORMAT:
        _, text = record.getMessage().split(" ", 1)
        entry = text_format.Parse(text, beam_fn_api_pb2.LogEntry(), allow_unknown_field=True)
        path, _, _ = entry.log_location.rpartition(":")
        if _PACKAGE in Path(path).parents:
            _LOG.log(record.levelno, "%s", entry.message)
    return False


def free_memory() -> int:
    """Bytes of memory that processes of this machine can still take."""
    return psutil.virtual_memory().available


def require_memory(inputs: list[InputFile], *, partitions: int, workers: int) -> None:
    """Checks that the join fits into the memory of this machine; warns where it may not.

    Raises:
      InputError: if it needs more even if comments are long; says what to do.
    """
    least = _AT_LEAST.needed(inputs, partitions=partitions, workers=workers)
    most = _AT_MOST.needed(inputs, partitions=partitions, workers=workers)
    free = free_memory()
    if most <= free:
        return
    stored_bytes = sum(file.size for file in inputs)
    message = (
        f"{stored_bytes / 1e9:.1f} GB of dumps need {least / 1e9:.1f} to {most / 1e9:.1f} GB of "
        f"memory in {workers} processes, and this machine has {free / 1e9:.1f} GB free; use "
        "fewer processes (--direct_num_workers), or an engine that spreads the join over "
        "machines and disks (--runner=FlinkRunner; docs/engines.md)"
    )
    if least > free:
        raise InputError(f"--input: {message}")
    _LOG.warning("warning: %s", message)

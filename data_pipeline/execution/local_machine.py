"""What the local runner may take of this machine: processes, and memory before it runs out."""

import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, TextIO

import psutil
from apache_beam.options.pipeline_options import DirectOptions, PipelineOptions

from data_pipeline.errors import InputError
from data_pipeline.execution.worker_logs import logs_of_workers
from data_pipeline.files.inputs import Dump, is_compressed

_STDERR = 2
_INPUT_BYTES_A_WORKER = 8 << 20
"""A further process takes some two seconds to start; with less stored input it does not pay."""


class _Memory(NamedTuple):
    """How much memory the join takes."""

    stored_bytes_a_comment: int
    """In a compressed dump: 46 in one with few fields, 88 in one of 2015, 247 in one with long
    comments."""
    plain_bytes_a_comment: int
    """The same uncompressed: 250, 640 and 1,073."""
    bytes_a_comment: int
    """At the peak of the join: benchmarks/speed/pipeline.py took 0.51 GiB with 315,000 comments a
    bucket and 0.35 GiB with 133,000, (0.51 - 0.35) GiB / (315,000 - 133,000) = 940 bytes."""
    bytes_a_worker: int
    """Python, Beam, the lines and comments being read and the rows being packed."""

    def needed(self, dumps: list[Dump], *, buckets: int, workers: int) -> float:
        """Bytes that the join of these dumps takes."""
        comments = sum(dump.size / self._stored_bytes(dump) for dump in dumps)
        return workers * (self.bytes_a_worker + comments / buckets * self.bytes_a_comment)

    def _stored_bytes(self, dump: Dump) -> int:
        return self.stored_bytes_a_comment if is_compressed(dump) else self.plain_bytes_a_comment


_AT_LEAST = _Memory(250, 1_100, 900, 250 << 20)
_AT_MOST = _Memory(46, 250, 1_000, 400 << 20)
_LOG = logging.getLogger(__name__)


def choose_workers(options: PipelineOptions, given: list[str], *, stored_bytes: int) -> int:
    """How many processes the local runner uses: all cores where the input is worth it.

    Sets Beam's options, unless the user has; theirs stand, also where they are Beam's defaults,
    which is why what was given is looked at.
    """
    direct = options.view_as(DirectOptions)
    if not any(argument.startswith("--direct_") for argument in given):
        cores = len(os.sched_getaffinity(0))
        direct.direct_num_workers = max(1, min(cores, stored_bytes // _INPUT_BYTES_A_WORKER))
        if direct.direct_num_workers > 1:
            direct.direct_running_mode = "multi_processing"
    return direct.direct_num_workers or os.cpu_count() or 1


@contextmanager
def quiet_processes(workers: int) -> Iterator[TextIO]:
    """Silences the stderr of Beam's processes, but not the log; yields where the bar may go.

    They write of each channel that they open to the stderr that they inherit, and no option
    stops them. What they fail for comes with the failure of the job. What this package logs, in
    this process and in theirs, still reaches the user.
    """
    if workers == 1:
        yield sys.stderr
        return
    sys.stderr.flush()
    with Path(os.devnull).open("w") as nowhere, os.fdopen(os.dup(_STDERR), "w") as terminal:
        os.dup2(nowhere.fileno(), _STDERR)
        try:
            with _logging_to(terminal), logs_of_workers():
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


def require_memory(dumps: list[Dump], *, buckets: int, workers: int) -> None:
    """Makes sure that the join can fit this machine; warns where it may not.

    Raises:
      InputError: if it needs more even with long comments; names the ways out.
    """
    least = _AT_LEAST.needed(dumps, buckets=buckets, workers=workers)
    most = _AT_MOST.needed(dumps, buckets=buckets, workers=workers)
    free = psutil.virtual_memory().available
    if most <= free:
        return
    stored_bytes = sum(dump.size for dump in dumps)
    message = (
        f"{stored_bytes / 1e9:.1f} GB of dumps need {least / 1e9:.1f} to {most / 1e9:.1f} GB of "
        f"memory in {workers} processes, and this machine has {free / 1e9:.1f} GB free; use "
        "fewer processes (--direct_num_workers), or an engine that spreads the join over "
        "machines and disks (--runner=FlinkRunner; BUILD.md)"
    )
    if least > free:
        raise InputError(f"--input: {message}")
    _LOG.warning("warning: %s", message)

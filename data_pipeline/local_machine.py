"""What the local runner may take of this machine: processes, and memory before it runs out."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

import psutil
from apache_beam.options.pipeline_options import DirectOptions, PipelineOptions

from data_pipeline.errors import InputError

_STDERR = 2
_INPUT_BYTES_A_WORKER = 8 << 20
"""A further process takes some two seconds to start; with less stored input it does not pay."""
_STORED_BYTES_A_COMMENT = 60
"""In a compressed dump: 88 in one of 2015, 46 in one with few fields."""
_BYTES_A_COMMENT_IN_A_BUCKET = 1000
"""At the peak of the join, rounded up: benchmarks/pipeline.py took 0.51 GiB with 315,000 comments
a bucket and 0.35 GiB with 133,000, (0.51 - 0.35) GiB / (315,000 - 133,000) = 940 bytes."""
_BYTES_A_WORKER = 400 << 20
"""Python, Beam, the lines and comments being read and the rows being packed."""


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
    """Keeps Beam's processes from talking into the progress bar; yields where the bar may go.

    They write of each channel that they open to the stderr that they inherit, and no option
    stops them. What they fail for comes with the failure of the job.
    """
    if workers == 1:
        yield sys.stderr
        return
    sys.stderr.flush()
    with Path(os.devnull).open("w") as nowhere, os.fdopen(os.dup(_STDERR), "w") as terminal:
        os.dup2(nowhere.fileno(), _STDERR)
        try:
            yield terminal
        finally:
            os.dup2(terminal.fileno(), _STDERR)


def require_memory(*, stored_bytes: int, buckets: int, workers: int) -> None:
    """Makes sure that the join fits this machine.

    Raises:
      InputError: if it does not; names the ways out.
    """
    in_a_bucket = stored_bytes / _STORED_BYTES_A_COMMENT / buckets
    needed = workers * (_BYTES_A_WORKER + in_a_bucket * _BYTES_A_COMMENT_IN_A_BUCKET)
    free = psutil.virtual_memory().available
    if needed > free:
        raise InputError(
            f"--input: {stored_bytes / 1e9:.1f} GB of dumps need about {needed / 1e9:.1f} GB of "
            f"memory in {workers} processes, and this machine has {free / 1e9:.1f} GB free; use "
            "fewer processes (--direct_num_workers), or an engine that spreads the join over "
            "machines and disks (--runner=FlinkRunner; BUILD.md)"
        )

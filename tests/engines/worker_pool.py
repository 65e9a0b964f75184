"""A Beam worker pool: runs the Python code of a job beside an engine.

    cd / && PATH=VENV/bin:$PATH PYTHONPATH=CODE \
        python -m apache_beam.runners.worker.worker_pool_main --service_port=50000

CODE is where this project is installed; nothing of it travels with a job. The pool starts one
`python` process, found on PATH, for each worker that an engine asks for.
"""

import sys
from pathlib import Path

from tests.engines import processes

_SECONDS_TO_START = 30


def start_worker_pool(port: int, *, code: Path, folder: Path) -> int:
    """Starts a pool whose workers import this project from a folder.

    Args:
      port: where engines ask for workers.
      code: the folder that holds `data_pipeline`.
      folder: where it runs, with its log; must not be one to import from.

    Returns:
      Its process group, which the caller ends.
    """
    folder.mkdir(parents=True)
    group = processes.start(
        *(sys.executable, "-m", "apache_beam.runners.worker.worker_pool_main"),
        f"--service_port={port}",
        log=folder / "pool.log",
        folder=folder,
        environment=processes.worker_environment(code),
    )
    try:
        processes.wait_until(
            lambda: processes.listens(port), seconds=_SECONDS_TO_START, what="the worker pool"
        )
    except BaseException:
        processes.stop(group)
        raise
    return group

"""Beam's worker processes, forked from this one instead of started anew.

A process that Beam's local runner starts imports Beam and this package again, which takes it a
second. Here the launcher forks a *nursery* before it has any threads, and the nursery forks a
worker for each command that Beam runs; these workers have everything imported already.

    with forked_workers(pipeline):
        pipeline.run()

Beam runs a shell command for each worker, and tells it in environment variables whom to serve. The
command here hands them to the nursery through a socket, and ends as the worker ends.
"""

import json
import logging
import os
import select
import shlex
import signal
import socket
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import apache_beam as beam
from apache_beam.options.pipeline_options import DirectOptions
from apache_beam.runners.portability.fn_api_runner import FnApiRunner
from apache_beam.runners.worker import sdk_worker_main
from apache_beam.transforms.environments import SubprocessSDKEnvironment

_CLIENT = """
import json, os, socket, sys
nursery = socket.socket(socket.AF_UNIX)
nursery.connect(sys.argv[1])
nursery.sendall(json.dumps(dict(os.environ)).encode())
nursery.shutdown(socket.SHUT_WR)
sys.exit(int(nursery.recv(9) or b"1"))
"""
"""What Beam runs for each worker: it imports next to nothing."""
_PROCESSES = "multi_processing"
_has_forked = False


def can_fork() -> bool:
    """Whether this process may fork: a copy of one with threads may wait for them for ever.

    gRPC leaves threads behind that Python does not see, so only the first job of a process forks.
    """
    return not _has_forked and threading.active_count() == 1 and "tensorflow" not in sys.modules


@contextmanager
def forked_workers(pipeline: beam.Pipeline) -> Iterator[None]:
    """Makes a local pipeline with several processes fork them, where this process may."""
    # Its own copy of the options that it was made with.
    direct = pipeline.options.view_as(DirectOptions)
    if not can_fork() or direct.direct_running_mode != _PROCESSES:
        yield
        return
    with _nursery() as environment:
        # In this mode the runner would replace the environment.
        direct.direct_running_mode = "in_memory"
        pipeline.runner = FnApiRunner(default_environment=environment)
        yield


@contextmanager
def _nursery() -> Iterator[SubprocessSDKEnvironment]:
    """Forks the nursery; yields the environment in which Beam's runner starts workers."""
    global _has_forked  # noqa: PLW0603
    _has_forked = True
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "nursery"
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(path))
            listener.listen()
            # The nursery ends when the launcher's end of this pipe is closed, however it ends.
            until, alive = os.pipe()
            nursery = os.fork()
            if nursery == 0:
                os.close(alive)
                _serve(listener, until)
            os.close(until)
        client = shlex.join([sys.executable, "-I", "-S", "-c", _CLIENT, str(path)])
        try:
            yield SubprocessSDKEnvironment.from_command_string(f"exec {client}")
        finally:
            os.close(alive)
            os.waitpid(nursery, 0)


def _serve(listener: socket.socket, until: int) -> None:
    """Forks a worker for each connection; ends the process when `until` is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    workers: list[int] = []
    code = 1
    try:
        while True:
            ready, _, _ = select.select([listener.fileno(), until], [], [])
            if until in ready:
                break
            connection, _ = listener.accept()
            worker = os.fork()
            if worker == 0:
                listener.close()
                _work(connection)
            connection.close()
            workers.append(worker)
        code = 0
    finally:
        for worker in workers:
            with suppress(ProcessLookupError):
                os.kill(worker, signal.SIGKILL)
        os._exit(code)


def _work(connection: socket.socket) -> None:
    """Runs Beam's worker in this process, and reports its exit status."""
    code = 1
    try:
        with connection.makefile("rb") as stream:
            environment = json.loads(stream.read())
        os.environ.clear()
        os.environ.update(environment)
        code = _run_worker()
    finally:
        with suppress(OSError):
            connection.sendall(b"%d" % code)
        os._exit(code)


def _run_worker() -> int:
    # The worker's records go to the launcher, which logs them.
    logging.getLogger().handlers.clear()
    try:
        sdk_worker_main.main([])
    except SystemExit as ended:
        return int(ended.code or 0)
    return 0

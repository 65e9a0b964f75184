"""Starts a job as a cluster of processes on this machine.

    python -m model.distribute.local_cluster --strategy multi_worker_mirrored --workers 2 -- \\
        --experiment reddit --mode train ...
    python -m model.distribute.local_cluster --strategy parameter_server --workers 3 \\
        --servers 1 -- ...

Every process runs `python -m model` with the arguments after `--` and gets its role from TF_CONFIG,
as on Kubernetes or any scheduler. The chief's output is shown; the others write to
LOGS/JOB-INDEX.log. With parameter servers a worker that dies is started again; otherwise the
cluster ends with the first process that fails, or with the chief.
"""

import argparse
import contextlib
import ctypes
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO

import psutil

MULTI_WORKER = "multi_worker_mirrored"
PARAMETER_SERVER = "parameter_server"
RESTARTS = 5
"""Total restarts of workers."""
_POLL_SECONDS = 0.2
_GRACE_SECONDS = 15.0
_DIE_WITH_PARENT = 1
"""PR_SET_PDEATHSIG of Linux."""

Task = tuple[str, int]
"""Name of a job, and index of one of its processes."""


def main(argv: Sequence[str] | None = None) -> None:
    """Runs the command; exits with the status of the process that ended the cluster."""
    own, behind = _split(sys.argv[1:] if argv is None else list(argv))
    arguments = _parser().parse_args(own)
    jobs = {"worker": arguments.workers}
    if arguments.strategy == PARAMETER_SERVER:
        jobs = {"chief": 1, **jobs, "ps": arguments.servers or 1}
    elif arguments.servers is not None:
        sys.exit(f"error: --servers: accepted only with --strategy {PARAMETER_SERVER}")
    command = [sys.executable, "-m", "model", *behind]
    command += ["--params_override", f"runtime.distribution_strategy={arguments.strategy}"]
    logs = Path(arguments.logs or tempfile.mkdtemp(prefix="cluster-"))
    try:
        logs.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        sys.exit(f"error: --logs: {logs}: {error.strerror}; accepted: a folder, or none yet")
    print(f"{sum(jobs.values())} processes; logs are in {logs}", file=sys.stderr, flush=True)
    cluster = LocalCluster(jobs, command, logs)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, cluster.note_signal)
    sys.exit(cluster.run())


def _split(argv: list[str]) -> tuple[list[str], list[str]]:
    """The arguments before and after `--`."""
    at = argv.index("--") if "--" in argv else len(argv)
    return argv[:at], argv[at + 1 :]


def _count(text: str) -> int:
    """A number of processes, for argparse."""
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"{text!r}; accepted: whole numbers of at least 1")
    return int(text)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m model.distribute.local_cluster",
        description="Runs `python -m model` as a cluster of processes on this machine.",
        usage="%(prog)s --strategy S [options] -- ARGUMENTS OF python -m model",
        epilog="example:\n  %(prog)s --strategy parameter_server --workers 3 -- \\\n"
        "      --experiment reddit --mode train --model_dir run/ --config_file laptop_dan ...",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--strategy",
        required=True,
        choices=(MULTI_WORKER, PARAMETER_SERVER),
        help="synchronous, or asynchronous with a chief and parameter servers",
    )
    parser.add_argument(
        "--workers", type=_count, default=2, metavar="N", help="processes that train; default: 2"
    )
    parser.add_argument(
        "--servers",
        type=_count,
        metavar="N",
        help="processes that hold the variables, only under parameter_server; default: 1",
    )
    parser.add_argument(
        "--logs", metavar="DIR", help="output of the other processes; default: a new folder"
    )
    return parser


class LocalCluster:
    """The processes of one cluster."""

    def __init__(self, jobs: dict[str, int], command: list[str], logs: Path):
        ports = iter(_free_ports(sum(jobs.values())))
        self._addresses = {
            job: [f"127.0.0.1:{next(ports)}" for _ in range(count)] for job, count in jobs.items()
        }
        self._command = command
        self._logs = logs
        self._chief: Task = ("chief" if "chief" in jobs else "worker", 0)
        self._processes: dict[Task, subprocess.Popen[bytes]] = {}
        self._restarts = 0
        self._signal: int | None = None
        self._is_stopping = False

    def note_signal(self, number: int, frame: object) -> None:
        """Passes a signal on to the processes that train."""
        del frame
        self._signal = number

    def run(self) -> int:
        """Starts all processes, waits, ends the rest; returns the exit status."""
        try:
            for job, addresses in self._addresses.items():
                for index in range(len(addresses)):
                    self._start((job, index))
            status = self._wait()
            self._wait_for_others()
            if not self._is_stopping:
                self._print_who_failed()
            return self._status(self._chief) or status
        finally:
            self._end()

    @property
    def _has_servers(self) -> bool:
        return "ps" in self._addresses

    @property
    def _trainers(self) -> list[Task]:
        """The processes that act on a signal; servers stay until the chief has saved."""
        return [self._chief] if self._has_servers else list(self._processes)

    def _start(self, task: Task) -> None:
        job, index = task
        config = {"cluster": self._addresses, "task": {"type": job, "index": index}}
        with contextlib.ExitStack() as stack:
            output: IO[bytes] | None = None  # our own
            if task != self._chief:
                output = stack.enter_context((self._logs / f"{job}-{index}.log").open("ab"))
            self._processes[task] = subprocess.Popen(
                self._command,
                env={**os.environ, "TF_CONFIG": json.dumps(config), "PYTHONUNBUFFERED": "1"},
                stdout=output,
                stderr=output,
                start_new_session=True,
                preexec_fn=_die_with_parent,  # noqa: PLW1509 - there are no threads here
            )

    def _wait(self) -> int:
        """The exit status of the first process whose end ends the cluster."""
        while True:
            self._pass_signal_on()
            for task in list(self._processes):
                status = self._status(task)
                if status is None or (status == 0 and task != self._chief):
                    continue
                if task == self._chief or not self._comes_back(task):
                    return status
            time.sleep(_POLL_SECONDS)

    def _status(self, task: Task) -> int | None:
        """Exit status of a process that has ended; 128 plus the number if a signal ended it."""
        code = self._processes[task].poll()
        return 128 - code if code is not None and code < 0 else code

    def _comes_back(self, task: Task) -> bool:
        if not self._has_servers or task[0] != "worker" or self._restarts == RESTARTS:
            return False
        self._restarts += 1
        print("{} {} died; restarting it".format(*task), file=sys.stderr, flush=True)
        self._start(task)
        return True

    def _wait_for_others(self) -> None:
        """Lets the processes that train save or report; without limit if a signal stopped them."""
        last = time.monotonic() + _GRACE_SECONDS
        while (self._is_stopping or time.monotonic() < last) and any(
            self._status(task) is None for task in self._trainers
        ):
            self._pass_signal_on()
            time.sleep(_POLL_SECONDS)

    def _print_who_failed(self) -> None:
        ended = {task: self._status(task) for task in self._processes}
        failed = ["{} {} ended with {}".format(*task, code) for task, code in ended.items() if code]
        if failed:
            print("; ".join(failed), file=sys.stderr, flush=True)

    def _pass_signal_on(self) -> None:
        if self._signal is not None:
            number, self._signal, self._is_stopping = self._signal, None, True
            self._send(number, self._trainers)

    def _send(self, number: int, tasks: list[Task]) -> None:
        for task in tasks:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._processes[task].pid, number)

    def _end(self) -> None:
        """Ends all processes and their children, by TERM and then by KILL."""
        family: list[psutil.Process] = []
        for process in self._processes.values():
            with contextlib.suppress(psutil.Error):
                parent = psutil.Process(process.pid)
                family += [parent, *parent.children(recursive=True)]
        self._send(signal.SIGTERM, list(self._processes))
        for alive in psutil.wait_procs(family, timeout=_GRACE_SECONDS)[1]:
            with contextlib.suppress(psutil.Error):
                alive.kill()
        for process in self._processes.values():
            process.wait()


def _die_with_parent() -> None:
    """Called in a new process: the kernel kills it when its parent ends."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)


def _free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


if __name__ == "__main__":
    main()

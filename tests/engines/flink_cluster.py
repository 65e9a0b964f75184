"""A standalone Flink cluster on this machine: one JobManager, two TaskManagers, Python workers.

    python -m tests.engines.flink_cluster start     # prints how to run the job there
    python -m tests.engines.flink_cluster stop

Each TaskManager starts Python workers of its own with deploy/beam_worker. (In a pool that both
share, one TaskManager would stop the other's workers: both number them from 1-1.) All processes
listen on localhost only. `make engines` fetches the jars.
"""

import argparse
import json
import os
import shlex
import shutil
import sys
import tempfile
import urllib.request
from contextlib import suppress
from pathlib import Path
from typing import Any

import yaml

from tests.engines import processes
from tests.engines.fetch import FLINK, FLINK_JOB_SERVER, FLINK_SERIES, FOLDER, REPOSITORY

TASK_MANAGERS = 2
SLOTS = 2
"""Of each TaskManager; one that is left alone can take the whole job."""
RUNNING = FOLDER / "cluster.json"
"""What `stop` must end."""
WORKER = REPOSITORY / "deploy" / "beam_worker"

_TRIES = 3
"""Somebody else may take a port between the moment it is chosen and the moment Java listens."""
_SECONDS_TO_START = 60
_EXIT = "-XX:+ExitOnOutOfMemoryError"
"""In a thread of Beam's gRPC the error would go unnoticed, and the job wait for ever."""
_JOB_MANAGER = "org.apache.flink.runtime.entrypoint.StandaloneSessionClusterEntrypoint"
_TASK_MANAGER = "org.apache.flink.runtime.taskexecutor.TaskManagerRunner"
_CONFIGURATION = REPOSITORY / "deploy" / "flink" / "config.yaml"

JAVA_OPTIONS = tuple(
    yaml.safe_load(_CONFIGURATION.read_text(encoding="utf-8"))["env.java.opts.all"].split()
)
"""Flink's own scripts take them from the file."""
_FRAMEWORK_HEAP, _OFF_HEAP, _NETWORK, _JOB_HEAP = 128, 128, 192, 512
"""MiB. `_OFF_HEAP` is for Flink itself, and once more for the job: Beam's gRPC takes it."""
_DIRECT = f"-XX:MaxDirectMemorySize={2 * _OFF_HEAP + _NETWORK}m"
"""Else Java allows as much as the heap, and a TaskManager of a small heap ends at once."""
TASK_HEAP = 384
"""MiB of a TaskManager for the job's own objects: the grouped values among them."""


def _sizes(task_heap: int) -> dict[str, str]:
    """Memory of a TaskManager, small; Flink's own scripts would reckon it from the total."""
    return {
        "taskmanager.numberOfTaskSlots": str(SLOTS),
        "taskmanager.cpu.cores": "1",
        "taskmanager.memory.framework.heap.size": f"{_FRAMEWORK_HEAP}m",
        "taskmanager.memory.framework.off-heap.size": f"{_OFF_HEAP}m",
        "taskmanager.memory.task.heap.size": f"{task_heap}m",
        "taskmanager.memory.task.off-heap.size": f"{_OFF_HEAP}m",
        "taskmanager.memory.managed.size": "256m",
        "taskmanager.memory.network.min": f"{_NETWORK}m",
        "taskmanager.memory.network.max": f"{_NETWORK}m",
        "taskmanager.memory.jvm-metaspace.size": "192m",
        "taskmanager.memory.jvm-overhead.min": "192m",
        "taskmanager.memory.jvm-overhead.max": "192m",
        "jobmanager.memory.heap.size": f"{_JOB_HEAP}m",
    }


class FlinkCluster:
    """Starts the cluster on entry, ends every process of it on exit.

    Attributes:
      rest: the address of the JobManager's REST API.
      job_manager: the process group of the JobManager.
      task_managers: name -> process group of each TaskManager and its Python workers.
    """

    def __init__(self, folder: Path, *, code: Path = REPOSITORY, task_heap: int = TASK_HEAP):
        """`folder` is for logs and scratch; `code` is where workers import this project from."""
        self.folder = folder
        self._code, self._task_heap = code, task_heap
        self.rest, self.job_manager = "", 0
        self.task_managers: dict[str, int] = {}

    def __enter__(self) -> "FlinkCluster":
        self.folder.mkdir(parents=True, exist_ok=True)
        for tries_left in reversed(range(_TRIES)):
            try:
                self._start()
                return self
            except RuntimeError:
                self.stop()
                if not tries_left:
                    raise
            except BaseException:
                self.stop()
                raise
        raise AssertionError

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Ends all processes."""
        processes.stop(*self.groups)
        self.task_managers.clear()
        self.job_manager = 0

    @property
    def groups(self) -> list[int]:
        """The process groups of all parts."""
        return [*self.task_managers.values(), *([self.job_manager] if self.job_manager else [])]

    @property
    def options(self) -> tuple[str, ...]:
        """The job's options for this cluster."""
        return (
            *("--runner=FlinkRunner", f"--flink_version={FLINK_SERIES}"),
            f"--flink_job_server_jar={os.path.relpath(FLINK_JOB_SERVER, REPOSITORY)}",
            f"--flink_master={self.rest.removeprefix('http://')}",
            f"--parallelism={TASK_MANAGERS}",
            "--environment_type=PROCESS",
            f"--environment_config={json.dumps({'command': str(WORKER)})}",
            # Python workers serve one stage after the other; else each stage starts its own.
            "--environment_cache_millis=2000",
        )

    def get(self, path: str) -> Any:
        """What the REST API says, such as `/overview`."""
        with urllib.request.urlopen(f"{self.rest}{path}", timeout=5) as answer:
            return json.load(answer)

    def registered(self) -> int:
        """The number of TaskManagers that the JobManager knows; 0 while it starts."""
        with suppress(OSError):
            return self.get("/overview")["taskmanagers"]
        return 0

    def records_read(self) -> int:
        """How many records the parts of the last job have handed on; 0 before it runs."""
        return sum(vertex["metrics"]["write-records"] for vertex in self.vertices())

    def vertices(self) -> list[Any]:
        """The parts of the last job; none before it runs."""
        return self.last_job("vertices") or []

    def failures(self) -> list[Any]:
        """What made Flink try parts of the last job again."""
        return self.get(f"/jobs/{self.last_job('jid')}/exceptions")["exceptionHistory"]["entries"]

    def accumulators(self) -> list[dict[str, str]]:
        """Name, type and value of what the last job has counted."""
        return self.get(f"/jobs/{self.last_job('jid')}/accumulators")["user-task-accumulators"]

    def busy_task_manager(self) -> int:
        """The process group of a TaskManager that runs a part of the last job."""
        managers = self.get("/taskmanagers")["taskmanagers"]
        busy = next(one["id"] for one in managers if one["freeSlots"] < one["slotsNumber"])
        return self.task_managers[busy]

    def last_job(self, field: str) -> Any:
        """What the REST API says of the last job under this name; None before there is one."""
        jobs = self.get("/jobs/overview")["jobs"]
        if not jobs:
            return None
        last = max(jobs, key=lambda job: job["start-time"])
        return self.get(f"/jobs/{last['jid']}")[field]

    def _start_job_manager(self) -> None:
        folder = self._configure("jobmanager")
        self.job_manager = self._java("jobmanager", _JOB_HEAP, _JOB_MANAGER, "--configDir", folder)
        processes.wait_until(
            lambda: self._answers() or not processes.is_alive(self.job_manager),
            seconds=_SECONDS_TO_START,
            what=f"the JobManager at {self.rest} (logs in {self.folder})",
        )

    def _start_task_manager(self, name: str) -> None:
        folder = self._configure(name)
        heap = _FRAMEWORK_HEAP + self._task_heap
        self.task_managers[name] = self._java(name, heap, _TASK_MANAGER, "--configDir", folder)

    def _start(self) -> None:
        self._rpc, rest = processes.free_ports(2)
        self.rest = f"http://localhost:{rest}"
        self.repair()

    def repair(self) -> None:
        """Starts what does not run, and waits until all parts know each other."""
        if not (self.job_manager and processes.is_alive(self.job_manager)):
            self._start_job_manager()
        for name in (f"taskmanager-{number}" for number in range(TASK_MANAGERS)):
            if not (name in self.task_managers and processes.is_alive(self.task_managers[name])):
                self._start_task_manager(name)
        self._await(
            lambda: self.registered() == TASK_MANAGERS,
            what=f"{TASK_MANAGERS} TaskManagers at {self.rest}",
        )

    def _answers(self) -> bool:
        with suppress(OSError):
            return bool(self.get("/config"))
        return False

    def _await(self, condition: Any, *, what: str) -> None:
        """Waits for a part of the cluster.

        Raises:
          RuntimeError: if a process ended instead; quotes its log.
        """

        def is_met() -> bool:
            for name, group in {**self.task_managers, "jobmanager": self.job_manager}.items():
                if not processes.is_alive(group):
                    said = (self.folder / f"{name}.log").read_text().splitlines()
                    raise RuntimeError(f"{name} ended at once: {said[-20:]}")
            return condition()

        processes.wait_until(
            is_met, seconds=_SECONDS_TO_START, what=f"{what} (logs in {self.folder})"
        )

    def _configure(self, name: str) -> Path:
        folder = self.folder / name
        scratch = folder / "scratch"
        scratch.mkdir(parents=True, exist_ok=True)
        rest = self.rest.rpartition(":")[2]
        own = {
            "jobmanager.rpc.address": "localhost",
            "jobmanager.rpc.port": str(self._rpc),
            "jobmanager.bind-host": "localhost",
            "rest.address": "localhost",
            "rest.bind-address": "localhost",
            "rest.port": rest,
            "rest.bind-port": rest,
            "taskmanager.resource-id": name,
            "taskmanager.host": "localhost",
            "taskmanager.bind-host": "localhost",
            "io.tmp.dirs": str(scratch),
            "blob.storage.directory": str(scratch),
            **_sizes(self._task_heap),
        }
        # Flink takes no key twice.
        shipped = [
            line
            for line in _CONFIGURATION.read_text().splitlines(keepends=True)
            if line.partition(":")[0] not in own
        ]
        lines = [f"{key}: {value}\n" for key, value in own.items()]
        (folder / "config.yaml").write_text("".join([*shipped, *lines]))
        (folder / "log4j.properties").write_text(
            "rootLogger.level = INFO\n"
            "rootLogger.appenderRef.console.ref = console\n"
            "appender.console.name = console\n"
            "appender.console.type = CONSOLE\n"
            "appender.console.layout.type = PatternLayout\n"
            "appender.console.layout.pattern = %d{HH:mm:ss,SSS} %-5p %c{1}: %m%n%ex\n"
        )
        return folder

    def _java(self, name: str, heap: int, main: str, *arguments: object) -> int:
        folder = self.folder / name
        return processes.start(
            "java",
            *(f"-Xmx{heap}m", _DIRECT, _EXIT),
            *JAVA_OPTIONS,
            f"-Djava.io.tmpdir={folder / 'scratch'}",
            f"-Dlog4j.configurationFile={folder / 'log4j.properties'}",
            *("-cp", f"{FLINK / 'lib'}/*:{FLINK_JOB_SERVER}", main, *arguments),
            log=self.folder / f"{name}.log",
            folder=folder,
            environment=processes.worker_environment(self._code),
        )


def start() -> None:
    """Starts a cluster that outlives this command."""
    if RUNNING.exists():
        sys.exit(f"error: {RUNNING} says that a cluster runs; stop it first")
    if not FLINK.exists():
        sys.exit(f"error: {FLINK} is not there; `make engines` fetches it")
    cluster = FlinkCluster(Path(tempfile.mkdtemp(prefix="flink-")))
    cluster.__enter__()
    RUNNING.write_text(json.dumps({"groups": cluster.groups, "folder": str(cluster.folder)}))
    print(f"Flink's page: {cluster.rest}; logs: {cluster.folder}; run the job there with")
    print(f"  {' '.join(map(shlex.quote, cluster.options))}")


def stop() -> None:
    """Ends the cluster that `start` left running."""
    if not RUNNING.exists():
        sys.exit("error: no cluster runs")
    running = json.loads(RUNNING.read_text())
    processes.stop(*running["groups"])
    shutil.rmtree(running["folder"], ignore_errors=True)
    RUNNING.unlink()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("command", choices=("start", "stop"))
    {"start": start, "stop": stop}[parser.parse_args().command]()

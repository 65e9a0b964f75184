"""A standalone Flink cluster on this machine: one JobManager, two TaskManagers, workers.

    python tests/engines/flink_cluster.py start     # prints how to run the job there
    python tests/engines/flink_cluster.py stop

Python code runs in a Beam worker pool beside the TaskManagers, as it does in a pod on
Kubernetes. Each process has one free port or lets the system choose; all of them listen on
localhost only. `make engines` fetches the jars.
"""

import argparse
import json
import os
import shutil
import sys
import tempfile
import urllib.request
from contextlib import suppress
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.engines import processes
from tests.engines.fetch import FLINK, FOLDER, JOB_SERVER

TASK_MANAGERS = 2
SLOTS = 2
"""Of each TaskManager; one that is left alone can take the whole job."""
RUNNING = FOLDER / "cluster.json"
"""What `stop` must end."""

_SECONDS_TO_START = 60
_JOB_MANAGER = "org.apache.flink.runtime.entrypoint.StandaloneSessionClusterEntrypoint"
_TASK_MANAGER = "org.apache.flink.runtime.taskexecutor.TaskManagerRunner"
_REPOSITORY = Path(__file__).parents[2]

_OPENED = (
    *("java.io", "java.lang", "java.lang.invoke", "java.lang.reflect", "java.math", "java.net"),
    *("java.nio", "java.text", "java.time", "java.util", "java.util.concurrent"),
    *("java.util.concurrent.atomic", "java.util.concurrent.locks", "sun.net.util", "sun.nio.ch"),
)
JAVA_OPTIONS = tuple(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in _OPENED)
"""Java 17 closes packages that Flink reaches into."""

CONFIGURATION = {
    # One lost TaskManager is noticed within seconds, and what ran there is tried again.
    "heartbeat.interval": "1 s",
    "heartbeat.timeout": "5 s",
    "restart-strategy.type": "fixed-delay",
    "restart-strategy.fixed-delay.attempts": "5",
    "restart-strategy.fixed-delay.delay": "1 s",
    # Both TaskManagers work, also where one has slots enough.
    "taskmanager.load-balance.mode": "SLOTS",
    "taskmanager.numberOfTaskSlots": str(SLOTS),
    # Small: the Python workers need the memory. Flink's own scripts would reckon these.
    "taskmanager.cpu.cores": "1",
    "taskmanager.memory.framework.heap.size": "128m",
    "taskmanager.memory.framework.off-heap.size": "128m",
    "taskmanager.memory.task.heap.size": "384m",
    "taskmanager.memory.task.off-heap.size": "128m",
    "taskmanager.memory.managed.size": "256m",
    "taskmanager.memory.network.min": "96m",
    "taskmanager.memory.network.max": "96m",
    "taskmanager.memory.jvm-metaspace.size": "192m",
    "taskmanager.memory.jvm-overhead.min": "192m",
    "taskmanager.memory.jvm-overhead.max": "192m",
    "jobmanager.memory.heap.size": "512m",
}
_TASK_HEAP, _JOB_HEAP = "512m", "512m"


class FlinkCluster:
    """Starts the cluster on entry, ends every process of it on exit.

    Attributes:
      rest: the address of the JobManager's REST API.
      pool: the worker pool's address; empty without one.
      task_managers: name -> process group of each TaskManager.
    """

    def __init__(self, folder: Path, *, worker_code: Path | None = _REPOSITORY):
        """`folder` is for logs and scratch; `worker_code` is None for no worker pool."""
        self.folder = folder
        self._code = worker_code
        self._groups: list[int] = []
        self.task_managers: dict[str, int] = {}
        self.rest, self.pool = "", ""

    def __enter__(self) -> "FlinkCluster":
        try:
            self._start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Ends all processes."""
        processes.stop(*self._groups)

    @property
    def groups(self) -> list[int]:
        """The process groups of all parts."""
        return self._groups

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
        return sum(vertex["metrics"]["write-records"] for vertex in self._last_job("vertices"))

    def failures(self) -> list[Any]:
        """What made Flink try parts of the last job again."""
        job = self._last_job("jid")
        return self.get(f"/jobs/{job}/exceptions")["exceptionHistory"]["entries"]

    def accumulators(self) -> list[dict[str, str]]:
        """Name, type and value of what the last job has counted."""
        return self.get(f"/jobs/{self._last_job('jid')}/accumulators")["user-task-accumulators"]

    def busy_task_manager(self) -> int:
        """The process group of a TaskManager that runs a part of the last job."""
        managers = self.get("/taskmanagers")["taskmanagers"]
        busy = next(one["id"] for one in managers if one["freeSlots"] < one["slotsNumber"])
        return self.task_managers[busy]

    def _last_job(self, field: str) -> Any:
        jobs = self.get("/jobs/overview")["jobs"]
        if not jobs:
            return []
        last = max(jobs, key=lambda job: job["start-time"])
        return self.get(f"/jobs/{last['jid']}")[field]

    def _start(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        rpc, rest, pool = processes.free_ports(3)
        self.rest = f"http://localhost:{rest}"
        job_manager = self._configure("jobmanager", rpc=rpc, rest=rest)
        self._java("jobmanager", _JOB_HEAP, _JOB_MANAGER, "--configDir", job_manager)
        for number in range(TASK_MANAGERS):
            name = f"taskmanager-{number}"
            folder = self._configure(name, rpc=rpc, rest=rest)
            self.task_managers[name] = self._java(
                name, _TASK_HEAP, _TASK_MANAGER, "--configDir", folder
            )
        if self._code is not None:
            self._start_pool(pool, self._code)
        processes.wait_until(
            self._is_complete,
            seconds=_SECONDS_TO_START,
            what=f"{TASK_MANAGERS} TaskManagers at {self.rest} (logs in {self.folder})",
        )

    def _is_complete(self) -> bool:
        if not all(map(processes.is_alive, self._groups)):
            raise RuntimeError(f"a part of the cluster ended at once; logs: {self.folder}/*.log")
        return self.registered() == TASK_MANAGERS

    def _configure(self, name: str, *, rpc: int, rest: int) -> Path:
        folder = self.folder / name
        scratch = folder / "scratch"
        scratch.mkdir(parents=True)
        addresses = {
            "jobmanager.rpc.address": "localhost",
            "jobmanager.rpc.port": str(rpc),
            "jobmanager.bind-host": "localhost",
            "rest.address": "localhost",
            "rest.bind-address": "localhost",
            "rest.port": str(rest),
            "rest.bind-port": str(rest),
            "taskmanager.resource-id": name,
            "taskmanager.host": "localhost",
            "taskmanager.bind-host": "localhost",
            "io.tmp.dirs": str(scratch),
            "blob.storage.directory": str(scratch),
        }
        lines = [f"{key}: {value}\n" for key, value in (CONFIGURATION | addresses).items()]
        (folder / "config.yaml").write_text("".join(lines))
        (folder / "log4j.properties").write_text(
            "rootLogger.level = INFO\n"
            "rootLogger.appenderRef.console.ref = console\n"
            "appender.console.name = console\n"
            "appender.console.type = CONSOLE\n"
            "appender.console.layout.type = PatternLayout\n"
            "appender.console.layout.pattern = %d{HH:mm:ss,SSS} %-5p %c{1}: %m%n%ex\n"
        )
        return folder

    def _java(self, name: str, heap: str, main: str, *arguments: object) -> int:
        folder = self.folder / name
        group = processes.start(
            "java",
            f"-Xmx{heap}",
            *JAVA_OPTIONS,
            f"-Djava.io.tmpdir={folder / 'scratch'}",
            f"-Dlog4j.configurationFile={folder / 'log4j.properties'}",
            *("-cp", f"{FLINK / 'lib'}/*", main, *arguments),
            log=self.folder / f"{name}.log",
            folder=folder,
        )
        self._groups.append(group)
        return group

    def _start_pool(self, port: int, code: Path) -> None:
        from tests.engines.worker_pool import start_worker_pool

        self.pool = f"localhost:{port}"
        self._groups.append(start_worker_pool(port, code=code, folder=self.folder / "pool"))


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
    print(
        f"  --runner=FlinkRunner --flink_master={cluster.rest.removeprefix('http://')}"
        f" --flink_job_server_jar={os.path.relpath(JOB_SERVER)} --parallelism={TASK_MANAGERS}"
        f" --environment_type=EXTERNAL --environment_config={cluster.pool}"
    )


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

"""Standalone clusters of Flink and Spark on this machine, with Python workers.

Each worker of an engine starts Python workers of its own with deploy/beam_worker. (In a pool that
two TaskManagers share, one would stop the other's workers: both number them from 1-1.) All
processes listen on localhost only. `make engines` fetches the jars.
"""

import json
import os
import urllib.request
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

import yaml

from tests.engines import processes
from tests.engines.fetch import (
    FLINK,
    FLINK_JOB_SERVER,
    FLINK_SERIES,
    REPOSITORY,
    SPARK,
    SPARK_JOB_SERVER,
)

WORKERS = 2
_SECONDS_TO_START = 60
_BEAM_WORKER = json.dumps({"command": str(REPOSITORY / "deploy" / "beam_worker")})
_PYTHON_WORKERS = ("--environment_type=PROCESS", f"--environment_config={_BEAM_WORKER}")


class Cluster:
    """Starts a master and its workers on entry, ends every process of them on exit.

    A subclass has `options`, the job's for this cluster; `alive`, the number of workers that the
    master knows; and `_java`, what follows `java` to start a part.
    """

    master = "master"
    about = "/json/"
    """Where the master's page tells of itself."""

    def __init__(self, folder: Path, *, code: Path):
        """`folder` is for logs and scratch; `code` is where workers import this project from."""
        self.folder = folder
        self._code = code
        self.groups: dict[str, int] = {}
        """Name of the master or a worker -> its process group, its Python workers included."""
        self._port, self._page_port = processes.free_ports(2)
        self.page = f"http://localhost:{self._page_port}"

    def __enter__(self) -> Self:
        try:
            self.repair()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        processes.stop(*self.groups.values())

    def repair(self) -> None:
        """Starts what does not run, and waits until all parts know each other."""
        self._start(self.master)
        self._wait(self._answers, what="the master")
        for number in range(WORKERS):
            self._start(f"worker-{number}")
        self._wait(lambda: self.alive() == WORKERS, what=f"{WORKERS} workers")

    def _answers(self) -> bool:
        with suppress(OSError):
            return bool(self.get(self.about))
        return False

    def _start(self, name: str) -> None:
        if name in self.groups and processes.is_alive(self.groups[name]):
            return
        folder = self.folder / name
        folder.mkdir(parents=True, exist_ok=True)
        self.groups[name] = processes.start(
            *("java", f"-Djava.io.tmpdir={folder}", *map(str, self._java(name, folder))),
            log=self.folder / f"{name}.log",
            folder=folder,
            environment={**processes.worker_environment(self._code), **self._variables(folder)},
        )

    def _wait(self, condition: Callable[[], bool], *, what: str) -> None:
        processes.wait_until(
            lambda: condition() or not all(map(processes.is_alive, self.groups.values())),
            seconds=_SECONDS_TO_START,
            what=f"{what} at {self.page} (logs in {self.folder})",
        )
        assert condition(), f"a part has ended; logs in {self.folder}"

    def get(self, path: str) -> Any:
        """What the master's page says as JSON."""
        with urllib.request.urlopen(f"{self.page}{path}", timeout=5) as answer:
            return json.load(answer)

    def workers(self) -> list[int]:
        """The process groups of the workers."""
        return [group for name, group in self.groups.items() if name != self.master]

    def busy_worker(self) -> int:
        """The process group of a worker that runs a part of the job."""
        return os.getpgid(processes.python_workers(*self.workers())[0])

    def _variables(self, folder: Path) -> Mapping[str, str]:
        return {}


class FlinkCluster(Cluster):
    """A JobManager and two TaskManagers with two slots each, so that one can take the whole job."""

    about = "/overview"
    _HEAP, _OFF_HEAP, _NETWORK = 512, 128, 192
    """MiB. `_OFF_HEAP` is for Flink itself, and once more for the job: Beam's gRPC takes it."""

    @property
    def options(self) -> tuple[str, ...]:
        return (
            *("--runner=FlinkRunner", f"--flink_version={FLINK_SERIES}"),
            f"--flink_job_server_jar={os.path.relpath(FLINK_JOB_SERVER, REPOSITORY)}",
            *(f"--flink_master=localhost:{self._page_port}", f"--parallelism={WORKERS}"),
            # Python workers serve one stage after the other; else each stage starts its own.
            *(*_PYTHON_WORKERS, "--environment_cache_millis=2000"),
        )

    def alive(self) -> int:
        with suppress(OSError):
            return self.get(self.about)["taskmanagers"]
        return 0

    def about_last_job(self, path: str) -> Any:
        """What the JobManager says about the last job, such as "exceptions"."""
        last = max(self.get("/jobs/overview")["jobs"], key=lambda job: job["start-time"])
        return self.get(f"/jobs/{last['jid']}/{path}")

    def _java(self, name: str, folder: Path) -> tuple[object, ...]:
        shipped = yaml.safe_load((REPOSITORY / "deploy/flink/config.yaml").read_text())
        java_options = shipped.pop("env.java.opts.all").split()
        memory = {
            "framework.heap.size": 128,
            "framework.off-heap.size": self._OFF_HEAP,
            "task.heap.size": self._HEAP - 128,
            "task.off-heap.size": self._OFF_HEAP,
            "managed.size": 256,
            "network.min": self._NETWORK,
            "network.max": self._NETWORK,
            "jvm-metaspace.size": 192,
            "jvm-overhead.min": 192,
            "jvm-overhead.max": 192,
        }
        settings = {
            **shipped,
            **{f"taskmanager.memory.{size}": f"{mib}m" for size, mib in memory.items()},
            "taskmanager.numberOfTaskSlots": 2,
            "taskmanager.cpu.cores": 1,
            "taskmanager.resource-id": name,
            "taskmanager.host": "localhost",
            "taskmanager.bind-host": "localhost",
            "jobmanager.memory.heap.size": f"{self._HEAP}m",
            "jobmanager.rpc.address": "localhost",
            "jobmanager.rpc.port": self._port,
            "jobmanager.bind-host": "localhost",
            "rest.address": "localhost",
            "rest.bind-address": "localhost",
            "rest.port": self._page_port,
            "rest.bind-port": self._page_port,
            "io.tmp.dirs": str(folder),
            "blob.storage.directory": str(folder),
        }
        lines = [f"{key}: {value}\n" for key, value in settings.items()]
        (folder / "config.yaml").write_text("".join(lines))
        runtime = "org.apache.flink.runtime"
        main = f"{runtime}.taskexecutor.TaskManagerRunner"
        if name == self.master:
            main = f"{runtime}.entrypoint.StandaloneSessionClusterEntrypoint"
        direct = 2 * self._OFF_HEAP + self._NETWORK
        return (
            # Else Java allows as much direct memory as the heap, and a TaskManager ends at once.
            *(f"-Xmx{self._HEAP}m", f"-XX:MaxDirectMemorySize={direct}m"),
            # In a thread of Beam's gRPC the error would go unnoticed, and the job wait for ever.
            *("-XX:+ExitOnOutOfMemoryError", *java_options),
            *("-cp", f"{FLINK / 'lib'}/*:{FLINK_JOB_SERVER}", main, "--configDir", folder),
        )


class SparkCluster(Cluster):
    """A master and two workers; each runs the job's executor."""

    @property
    def options(self) -> tuple[str, ...]:
        return (
            *("--runner=SparkRunner", "--spark_version=3"),
            f"--spark_job_server_jar={os.path.relpath(SPARK_JOB_SERVER, REPOSITORY)}",
            f"--spark_master_url=spark://localhost:{self._port}",
            # Python workers serve one task after the other; else each task starts its own.
            *(*_PYTHON_WORKERS, "--environment_cache_millis=60000"),
        )

    @property
    def environment(self) -> dict[str, str]:
        """Variables of the command: Spark's own settings, which its driver reads from Java's."""
        settings = {
            "spark.driver.host": "localhost",
            "spark.driver.bindAddress": "localhost",
            "spark.executor.memory": "768m",
            # Before Spark's own jars, whose Guava is too old for Beam.
            "spark.executor.extraClassPath": str(SPARK_JOB_SERVER),
            "spark.default.parallelism": str(WORKERS),
            "spark.ui.enabled": "false",
        }
        options = " ".join(f"-D{key}={value}" for key, value in settings.items())
        return {"JDK_JAVA_OPTIONS": options, "SPARK_LOCAL_HOSTNAME": "localhost"}

    def alive(self) -> int:
        return sum(worker["state"] == "ALIVE" for worker in self.get(self.about)["workers"])

    def _java(self, name: str, folder: Path) -> tuple[object, ...]:
        common = ("-Xmx512m", "-cp", f"{SPARK / 'jars'}/*")
        host = ("--host", "localhost", "--webui-port")
        if name == self.master:
            main = "org.apache.spark.deploy.master.Master"
            return (*common, main, *host, self._page_port, "--port", self._port)
        main, size = "org.apache.spark.deploy.worker.Worker", ("--cores", 1, "--memory", "1g")
        address = f"spark://localhost:{self._port}"
        return (*common, main, *host, 0, *size, "--work-dir", folder, address)

    def _variables(self, folder: Path) -> Mapping[str, str]:
        return {
            "SPARK_HOME": str(SPARK),
            # Which bin/spark-class would find out.
            "SPARK_SCALA_VERSION": "2.12",
            "SPARK_LOCAL_HOSTNAME": "localhost",
            "SPARK_LOCAL_DIRS": str(folder),
        }

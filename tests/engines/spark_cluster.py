"""A standalone Spark cluster on this machine: a master and two workers, Python workers beside them.

All processes listen on localhost only. Each Spark worker runs the job's executor, which starts
Beam's Python workers with deploy/beam_worker. `make engines` fetches the jars.
"""

import json
import os
import urllib.request
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.engines import processes
from tests.engines.fetch import REPOSITORY, SPARK, SPARK_JOB_SERVER
from tests.engines.flink_cluster import WORKER

WORKERS = 2
_MASTER = "org.apache.spark.deploy.master.Master"
_WORKER = "org.apache.spark.deploy.worker.Worker"
_MEMORY = "768m"
"""Of each executor."""
_SECONDS_TO_START = 60


class SparkCluster:
    """Starts the cluster on entry, ends every process of it on exit.

    Attributes:
      master: the master's URL.
      workers: name -> process group of each worker, its executor and its Python workers.
    """

    def __init__(self, folder: Path, *, code: Path = REPOSITORY):
        """`folder` is for logs and scratch; `code` is where workers import this project from."""
        self.folder = folder
        self._code = code
        self._master_group = 0
        self.master, self._page = "", ""
        self.workers: dict[str, int] = {}

    def __enter__(self) -> "SparkCluster":
        self.folder.mkdir(parents=True, exist_ok=True)
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
        master = [self._master_group] if self._master_group else []
        processes.stop(*self.workers.values(), *master)

    @property
    def options(self) -> tuple[str, ...]:
        """The job's options for this cluster."""
        return (
            *("--runner=SparkRunner", "--spark_version=3"),
            f"--spark_job_server_jar={os.path.relpath(SPARK_JOB_SERVER, REPOSITORY)}",
            f"--spark_master_url={self.master}",
            "--environment_type=PROCESS",
            f"--environment_config={json.dumps({'command': str(WORKER)})}",
            # Python workers serve one task after the other; else each task starts its own.
            "--environment_cache_millis=60000",
        )

    @property
    def environment(self) -> dict[str, str]:
        """Variables of the command: Spark's own settings, which its driver reads from Java's."""
        settings = {
            "spark.driver.host": "localhost",
            "spark.driver.bindAddress": "localhost",
            "spark.executor.memory": _MEMORY,
            # Before Spark's own jars, whose Guava is too old for Beam.
            "spark.executor.extraClassPath": str(SPARK_JOB_SERVER),
            "spark.default.parallelism": str(WORKERS),
            "spark.ui.enabled": "false",
        }
        options = " ".join(f"-D{key}={value}" for key, value in settings.items())
        return {"JDK_JAVA_OPTIONS": options, "SPARK_LOCAL_HOSTNAME": "localhost"}

    def alive(self) -> int:
        """The number of workers that the master knows to be alive."""
        return sum(worker["state"] == "ALIVE" for worker in self._get()["workers"])

    def python_workers(self) -> list[int]:
        """The Python workers of all executors."""
        return [
            worker for group in self.workers.values() for worker in processes.python_workers(group)
        ]

    def busy_worker(self) -> int:
        """The process group of a worker whose executor runs."""
        return os.getpgid(self.python_workers()[0])

    def _get(self) -> Any:
        with urllib.request.urlopen(f"{self._page}/json/", timeout=5) as answer:
            return json.load(answer)

    def _start(self) -> None:
        port, page = processes.free_ports(2)
        self.master, self._page = f"spark://localhost:{port}", f"http://localhost:{page}"
        self._master_group = self._java(
            "master", _MASTER, *("--host", "localhost", "--port", port, "--webui-port", page)
        )
        self._await(self._answers, what="the master")
        self.repair()

    def repair(self) -> None:
        """Starts the workers that do not run, and waits until the master knows them."""
        for name in (f"worker-{number}" for number in range(WORKERS)):
            if not (name in self.workers and processes.is_alive(self.workers[name])):
                self.workers[name] = self._java(
                    *(name, _WORKER, "--host", "localhost", "--webui-port", 0, "--cores", 1),
                    *("--memory", "1g", "--work-dir", self.folder / name, self.master),
                )
        self._await(lambda: self.alive() == WORKERS, what=f"{WORKERS} workers")

    def _await(self, condition: Any, *, what: str) -> None:
        logs = f"{what} at {self._page} (logs in {self.folder})"
        processes.wait_until(condition, seconds=_SECONDS_TO_START, what=logs)

    def _answers(self) -> bool:
        with suppress(OSError):
            return bool(self._get())
        return False

    def _java(self, name: str, main: str, *arguments: object) -> int:
        folder = self.folder / name
        folder.mkdir(exist_ok=True)
        return processes.start(
            *("java", "-Xmx512m", f"-Djava.io.tmpdir={folder}", "-cp", f"{SPARK / 'jars'}/*"),
            *(main, *arguments),
            log=self.folder / f"{name}.log",
            folder=folder,
            environment={
                **processes.worker_environment(self._code),
                "SPARK_HOME": str(SPARK),
                # Which bin/spark-class would find out.
                "SPARK_SCALA_VERSION": "2.12",
                "SPARK_LOCAL_HOSTNAME": "localhost",
                "SPARK_LOCAL_DIRS": str(folder),
            },
        )

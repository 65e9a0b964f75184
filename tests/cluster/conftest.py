"""Clusters of real processes of `python -m model` on one machine."""

import json
import os
import subprocess
import sys
from contextlib import suppress

import pytest

from tests.conftest import REPOSITORY, steps_of
from tests.engines.processes import free_ports, wait_until
from tests.model.conftest import flags, nli_folder, pairs_folder, teacher_folder  # noqa: F401

MULTI_WORKER = "multi_worker_mirrored"
PARAMETER_SERVER = "parameter_server"
_PATIENCE = 600
"""Seconds that a cluster may take; it needs 15 where nothing else runs."""
_OPTIMIZER = "trainer__optimizer_config__optimizer"
_SHORT = {
    "task__word_cooccurrence_records": 64,
    "task__word_frequency_records": 64,
    "trainer__train_steps": 40,
    "trainer__steps_per_loop": 10,
    "trainer__validation_interval": 40,
    "trainer__validation_steps": 2,
    f"{_OPTIMIZER}__type": "rowwise_adagrad",
    f"{_OPTIMIZER}__rowwise_adagrad__initial_accumulator_value": 1e-6,
}
"""Of the runs of two or three workers, beside the tiny experiment."""


class Cluster:
    """The processes of one cluster and what they say; the first one trains and reports."""

    def __init__(self, command, jobs, logs):
        self._command, self._logs = command, logs
        ports = iter(free_ports(sum(jobs.values())))
        self._addresses = {
            job: [f"127.0.0.1:{next(ports)}" for _ in range(count)] for job, count in jobs.items()
        }
        self._processes = {}
        for job, addresses in self._addresses.items():
            for index in range(len(addresses)):
                self.start(job, index)
        self.chief = next(iter(self._processes))

    def start(self, job, index):
        """Starts a process, also in place of one that has ended."""
        role = {"cluster": self._addresses, "task": {"type": job, "index": index}}
        with (self._logs / f"{job}-{index}.log").open("ab") as log:
            self._processes[job, index] = process = subprocess.Popen(
                [str(part) for part in self._command],
                cwd=REPOSITORY,
                env=os.environ
                | {
                    "CUDA_VISIBLE_DEVICES": "-1",
                    "PYTHONUNBUFFERED": "1",
                    "TF_CONFIG": json.dumps(role),
                    "TMPDIR": str(self._logs),
                },
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        if hasattr(os, "sched_setaffinity"):  # as if each were a machine of one core
            os.sched_setaffinity(process.pid, {index % (os.cpu_count() or 1)})

    def send(self, number, job=None, index=0):
        """Sends a signal to one process, by default to the first."""
        self._processes[(job, index) if job else self.chief].send_signal(number)

    def log(self, job=None, index=0):
        """What a process has said, without its progress bar."""
        name = "{}-{}.log".format(*((job, index) if job else self.chief))
        lines = (self._logs / name).read_text().split("\n")
        return "\n".join(line.rpartition("\r")[2] for line in lines)

    def error(self, job=None, index=0):
        """The line that tells an error; there is no more than that line."""
        said = self.log(job, index)
        assert "Traceback" not in said
        (line,) = [line for line in said.splitlines() if line.startswith("error:")]
        return line

    def wait(self, job=None, index=0):
        """The exit status of a process; if it is the first one, the others end, too."""
        process = self._processes[(job, index) if job else self.chief]
        status = process.wait(timeout=_PATIENCE)
        return 128 - status if status < 0 else status

    def wait_for(self, condition, what):
        """Waits while the cluster runs."""

        def holds():
            assert self._processes[self.chief].poll() is None, f"{what}\n{self.log()}"
            return condition()

        wait_until(holds, seconds=_PATIENCE, what=what)

    def end(self):
        """Ends what still runs."""
        for process in self._processes.values():
            with suppress(ProcessLookupError):
                process.kill()
            process.wait()


@pytest.fixture
def run_folder(tmp_path):
    """The model folder of `launch`."""
    return tmp_path / "run"


@pytest.fixture
def launch(flags, tmp_path, run_folder):  # noqa: F811
    """Starts a cluster that trains in `run_folder`: its strategy, and overrides."""
    launched = []

    def start(strategy, *, workers=2, experiment="reddit", mode="train", **overrides):
        jobs = {"worker": workers}
        if strategy == PARAMETER_SERVER:
            jobs = {"chief": 1, "worker": workers, "ps": 1}
        shares = {f"task__{name}__share": 0.3 for name in experiment.split("_")[1:]}
        given = {"runtime__distribution_strategy": strategy} | shares | _SHORT | overrides
        parts = flags(experiment, **given) | {"mode": mode, "model_dir": run_folder}
        command = [sys.executable, "-m", "model"]
        command += [part for name, value in parts.items() for part in (f"--{name}", value)]
        logs = tmp_path / f"logs-{len(launched)}"
        logs.mkdir()
        launched.append(Cluster(command, jobs, logs))
        return launched[-1]

    yield start
    for cluster in launched:
        cluster.end()


@pytest.fixture
def logged(run_folder, events):
    """The values of a name in the events of training, by step."""
    return lambda name: events(run_folder / "train").get(name, {})


@pytest.fixture
def saved(run_folder):
    """The steps of the checkpoints in the model folder."""
    return lambda: steps_of(run_folder)

"""Clusters of real processes of `python -m model` on one machine."""

import json
import os
import struct
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from data_pipeline.pairs import tfrecord
from tests.conftest import steps_of
from tests.engines.processes import free_ports, wait_until

REPOSITORY = Path(__file__).parents[2]
MULTI_WORKER = "multi_worker_mirrored"
PARAMETER_SERVER = "parameter_server"
BATCH = 32
_PATIENCE = 600
"""Seconds that a cluster may take; it needs 15 where nothing else runs."""
_SHARDS = 4
_TINY = """\
task:
  model:
    text: {max_tokens: 6, word_buckets: 5000, bigram_buckets: 50}
    encoder: {type: averaging, averaging: {word_dim: 8, hidden: [], embedding_dim: 8}}
    response_network: {hidden: [], normalize: true}
    score_scale: 20.0
    nli: {hidden: [8]}
  word_cooccurrence_records: 64
  word_frequency_records: 64
trainer:
  train_steps: 40
  steps_per_loop: 10
  checkpoint_interval: 20
  validation_interval: 40
  validation_steps: 2
  optimizer_config:
    optimizer: {type: rowwise_adagrad, rowwise_adagrad: {initial_accumulator_value: 1.0e-6}}
    learning_rate: {type: constant, constant: {learning_rate: 0.05}}
"""


@pytest.fixture(scope="session")
def data(tmp_path_factory):
    """Pairs whose response follows from the input, and for further tasks, in four shards.

    Validation reads the same records in files of its own.
    """
    folder = tmp_path_factory.mktemp("data")
    for name, example in (("pairs", _pair), ("nli", _nli_pair), ("teacher", _target)):
        frames = [tfrecord.frame(tfrecord.encode_example(example(number))) for number in range(128)]
        for shard in range(_SHARDS):
            for start in ("train", "validation"):
                path = folder / f"{start}-{name}-{shard:05d}-of-{_SHARDS:05d}.tfrecord"
                path.write_bytes(b"".join(frames[shard::_SHARDS]))
    return folder


def _pair(number):
    pair = dict.fromkeys(tfrecord.FEATURES, "")
    return pair | {"input": f"question{number}", "response": f"answer{number}"}


def _nli_pair(number):
    label = number % 3
    return {
        tfrecord.PAIR_ID: str(number),
        tfrecord.PREMISE: f"premise {number}",
        tfrecord.HYPOTHESIS: f"{tfrecord.LABELS[label]} {number}",
        tfrecord.LABEL: label,
    }


def _target(number):
    embedding = [float(number % 7 == index) for index in range(6)] + [1.0]
    return {"text": f"question{number}", "embedding": struct.pack("<7e", *embedding)}


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
            self._processes[job, index] = subprocess.Popen(
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
def launch(data, tmp_path, run_folder):
    """Starts a cluster that trains in `run_folder`: its strategy, and overrides."""
    config = tmp_path / "tiny.yaml"
    config.write_text(_TINY)
    launched = []

    def start(strategy, *, workers=2, experiment="reddit", mode="train", **overrides):
        jobs = {"worker": workers}
        if strategy == PARAMETER_SERVER:
            jobs = {"chief": 1, "worker": workers, "ps": 1}
        given = {"runtime.distribution_strategy": strategy}
        for name in experiment.split("_"):
            task = "task" if name == "reddit" else f"task.{name}"
            records = "pairs" if name == "reddit" else name
            for use in ("train", "validation"):
                given[f"{task}.{use}_data.input_path"] = f"{data}/{use}-{records}-*"
                given[f"{task}.{use}_data.global_batch_size"] = BATCH
            given[f"{task}.train_data.shuffle_buffer_size"] = 64
            if task != "task":
                given[f"{task}.share"] = 0.3
        given |= {name.replace("__", "."): value for name, value in overrides.items()}
        command = [sys.executable, "-m", "model", "--experiment", experiment, "--mode", mode]
        command += ["--model_dir", run_folder, "--config_file", config, "--params_override"]
        command += [",".join(f"{name}={value}" for name, value in given.items())]
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

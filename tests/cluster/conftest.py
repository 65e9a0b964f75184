"""Clusters of real processes on one machine, as `model.distribute.local_cluster` starts them."""

import json
import os
import signal
import struct
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from data_pipeline.pairs import tfrecord
from tests.engines.processes import wait_until

REPOSITORY = Path(__file__).parents[2]
MULTI_WORKER = "multi_worker_mirrored"
PARAMETER_SERVER = "parameter_server"
BATCH = 32
WORD_START = {"task__word_cooccurrence_records": 64, "task__word_frequency_records": 64}
_PATIENCE = 180
"""Seconds that a cluster may take; it needs 15 where nothing else runs."""
_SHARDS = 4
_TINY = """\
task:
  model:
    text: {{max_tokens: 6, word_buckets: 5000, bigram_buckets: 50}}
    encoder: {{type: averaging, averaging: {{word_dim: 8, hidden: [], embedding_dim: 8}}}}
    response_network: {{hidden: [], normalize: true}}
    score_scale: 20.0
{further}
  train_data: {{input_path: "{data}/pairs-*", {sizes}}}
  validation_data: {{input_path: "{data}/validation-pairs-*", global_batch_size: {batch}}}
trainer:
  train_steps: 40
  steps_per_loop: 10
  summary_interval: 10
  checkpoint_interval: 20
  validation_interval: 40
  validation_steps: 2
  optimizer_config:
    optimizer: {{type: adagrad, adagrad: {{initial_accumulator_value: 1.0e-6}}}}
    learning_rate: {{type: constant, constant: {{learning_rate: 0.05}}}}
"""
_NLI = """\
    nli: {{hidden: [8]}}
  nli:
    share: 0.3
    train_data: {{input_path: "{data}/nli-*", {sizes}}}
    validation_data: {{input_path: "{data}/validation-nli-*", global_batch_size: {batch}}}
"""
_TEACHER = """\
  teacher:
    share: 0.3
    train_data: {{input_path: "{data}/teacher-*", {sizes}}}
    validation_data: {{input_path: "{data}/validation-teacher-*", global_batch_size: {batch}}}
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
            for start in ("", "validation-"):
                path = folder / f"{start}{name}-{shard:05d}-of-{_SHARDS:05d}.tfrecord"
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


class Launched:
    """A launcher, its processes and what they say."""

    def __init__(self, command, logs):
        self.logs = logs
        logs.mkdir()
        self._said = logs / "launcher.txt"
        with self._said.open("wb") as said:
            self.process = subprocess.Popen(
                [str(part) for part in command],
                cwd=REPOSITORY,
                env={
                    **os.environ,
                    "CUDA_VISIBLE_DEVICES": "-1",
                    "TMPDIR": str(_made(logs.parent / "scratch")),
                },
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    @property
    def said(self):
        """What the user sees, without the progress bar."""
        lines = self.shown.split("\n")
        return "\n".join(line.rpartition("\r")[2] for line in lines)

    @property
    def shown(self):
        """All that the user sees, the progress bar at every moment."""
        return self._said.read_text()

    @property
    def errors(self):
        """The lines that tell an error."""
        return [line for line in self.said.splitlines() if line.startswith("error:")]

    def log(self, job, index):
        """What another process said."""
        return (self.logs / f"{job}-{index}.log").read_text()

    def family(self):
        """The processes of the cluster."""
        return psutil.Process(self.process.pid).children(recursive=True)

    def member(self, job, index):
        """One process of the cluster."""
        for process in self.family():
            with suppress(psutil.Error):
                config = process.environ().get("TF_CONFIG", "{}")
                if json.loads(config).get("task") == {"type": job, "index": index}:
                    return process
        raise LookupError(f"no {job} {index}")

    def wait(self):
        """The exit status."""
        return self.process.wait(timeout=_PATIENCE)

    def wait_for(self, condition, what):
        """Waits while the cluster runs."""

        def holds():
            assert self.process.poll() is None, f"ended before: {what}\n{self.said}"
            return condition()

        wait_until(holds, seconds=_PATIENCE, what=what)

    def end(self):
        """Ends what still runs."""
        with suppress(psutil.Error):
            for process in self.family():
                process.kill()
        self.process.kill()
        self.process.wait()


def _made(folder):
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture
def launch(data, tmp_path):
    """Starts a cluster that trains in `tmp_path/run`: its strategy, and overrides."""
    launched = []

    def start(strategy, *, workers=2, experiment="reddit", mode="train", **overrides):
        sizes = f"global_batch_size: {BATCH}, shuffle_buffer_size: 64"
        values = {"data": data, "sizes": sizes, "batch": BATCH}
        tasks = {"nli": _NLI, "teacher": _TEACHER}
        further = "".join(tasks[name].format(**values) for name in experiment.split("_")[1:])
        config = tmp_path / "tiny.yaml"
        config.write_text(_TINY.format(further=further, **values))
        logs = tmp_path / f"logs-{len(launched)}"
        command = [sys.executable, "-m", "model.distribute.local_cluster", "--strategy", strategy]
        command += ["--workers", workers, "--logs", logs, "--", "--experiment", experiment]
        command += ["--mode", mode, "--model_dir", tmp_path / "run", "--config_file", config]
        for name, value in overrides.items():
            command += ["--params_override", f"{name.replace('__', '.')}={value}"]
        launched.append(Launched(command, logs))
        return launched[-1]

    yield start
    for each in launched:
        each.end()


@pytest.fixture
def run_folder(tmp_path):
    """The model folder of `launch`."""
    return tmp_path / "run"


@pytest.fixture
def saved(run_folder):
    """The steps of the checkpoints in the model folder."""

    def steps():
        return sorted(int(path.name[5:-6]) for path in run_folder.glob("ckpt-*.index"))

    return steps


@pytest.fixture
def fact():
    """A line of the summary that a run prints at its end."""

    def find(launched, name):
        lines = [line for line in launched.said.splitlines() if line.startswith(f"{name}  ")]
        return lines[0].removeprefix(name).split() if lines else None

    return find


def kill(process):
    """As a machine that loses power."""
    os.kill(process.pid, signal.SIGKILL)

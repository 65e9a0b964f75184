"""Commands in processes of their own, and what they read: made by themselves."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
HERE = Path(__file__).parent
PRESET = """\
task:
  model:
    text: {max_tokens: 8, word_buckets: 300, bigram_buckets: 100}
    encoder: {type: averaging, averaging: {word_dim: 8, hidden: [], embedding_dim: 8}}
    response_network: {hidden: []}
  train_data: {global_batch_size: 16, shuffle_buffer_size: 100}
trainer: {train_steps: 40, steps_per_loop: 10, checkpoint_interval: 10, summary_interval: 20}
"""


class Server:
    """Runs commands at the same time; none of them waits for its imports."""

    def __init__(self, folder):
        self._process = subprocess.Popen(
            [sys.executable, HERE / "server.py"],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(REPOSITORY), "TF_CPP_MIN_LOG_LEVEL": "3"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout.readline() == "ready\n"

    def run(self, *commands):
        """The exit statuses of commands: `argv`, `log` and, in seconds, `after`."""
        self._process.stdin.write(json.dumps(commands, default=str) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def close(self):
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait(60)


class Ready:
    """A folder with a sample world, its pairs, and two models with their modules and results."""

    def __init__(self, server, folder):
        self._server = server
        self.folder = folder
        (folder / "tiny.yaml").write_text(PRESET)
        self._make("sample", 0, "world")
        self._make("reddit", 0, "pairs")
        self._make("snli", 0, "nli")
        for version in (0, 1):
            self._make("model", version, f"run{version}")
            self._make("export", version, f"module{version}")
            self._make("sts", version, f"results{version}")

    def _make(self, kind, version, name):
        log = self.folder / "log"
        argv = self.argv(kind, version, self.folder / name)
        assert self._server.run({"argv": argv, "log": log}) == [0], log.read_text()

    def argv(self, kind, version, folder):
        """A command, in one of two versions that can be told apart by what they leave."""
        ready, number = self.folder, str(version + 1)
        return {
            "reddit": [
                *("data_pipeline", "reddit", "--input", f"{ready}/world/reddit/RC_*"),
                *("--output", folder, "--train_shards", number),
            ],
            "snli": [
                *("data_pipeline", "snli", "--input", f"{ready}/world/nli/*train*"),
                *("--output", folder, "--shards", number),
            ],
            "vocabulary": [
                *("data_pipeline", "vocabulary", "--input", f"{ready}/pairs/train-*"),
                *("--output", folder, "--min_count", number),
            ],
            "sample": [
                *("data_pipeline", "sample", "--output", folder, "--comments", "300"),
                *("--seed", number),
            ],
            "model": [
                *("model", "--experiment", "reddit", "--mode", "train", "--model_dir", folder),
                *("--config_file", ready / "tiny.yaml", "--params_override"),
                f"task.seed={number},task.train_data.input_path={ready}/pairs/train-*",
            ],
            "export": ["export", "--model_dir", ready / f"run{version}", "--output", folder],
            "sts": [
                *("evaluation", "sts", "--module", ready / f"module{version}"),
                *("--data", f"{ready}/world/stsb", "--output", folder, "--again"),
            ],
            "report": [
                *("evaluation", "report", "--results", ready / f"results{version}"),
                *("--output", f"{folder}/report.html"),
            ],
        }[kind]


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    running = Server(tmp_path_factory.mktemp("server"))
    yield running
    running.close()


@pytest.fixture(scope="session")
def ready(server, tmp_path_factory):
    return Ready(server, tmp_path_factory.mktemp("ready"))

"""Commands in processes of their own, and what they read: made by themselves."""

import pytest

from tests.commands import server

PRESET = """\
task:
  model:
    text: {max_tokens: 8, word_buckets: 300, bigram_buckets: 100}
    encoder: {type: averaging, averaging: {word_dim: 8, hidden: [], embedding_dim: 8}}
    response_network: {hidden: []}
  train_data: {global_batch_size: 16, shuffle_buffer_size: 100}
trainer: {train_steps: 40, steps_per_loop: 10, checkpoint_interval: 10}
"""


class Ready:
    """A folder with a sample world, its pairs, and two models with their modules and results."""

    def __init__(self, run, folder):
        self._run, self.folder = run, folder
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
        assert self._run(self.argv(kind, version, self.folder / name), log) == 0, log.read_text()

    def argv(self, kind, version, folder):
        """A command that writes a folder; of two versions where it is of a model."""
        ready = self.folder
        return {
            "reddit": [
                *("data_pipeline", "reddit", "--input", f"{ready}/world/reddit/RC_*"),
                *("--output", folder, "--train_shards", "1"),
            ],
            "snli": [
                *("data_pipeline", "snli", "--input", f"{ready}/world/nli/*train*"),
                *("--output", folder),
            ],
            "vocabulary": [
                *("data_pipeline", "vocabulary", "--input", f"{ready}/pairs/train-*"),
                *("--output", folder, "--min_count", "1"),
            ],
            "sample": [
                *("data_pipeline", "sample", "--output", folder, "--comments", "300"),
                *("--seed", "1"),
            ],
            "model": [
                *("model", "--experiment", "reddit", "--mode", "train", "--model_dir", folder),
                *("--config_file", ready / "tiny.yaml", "--params_override"),
                f"task.seed={version + 1},task.train_data.input_path={ready}/pairs/train-*",
            ],
            "export": ["export", "--model_dir", ready / f"run{version}", "--output", folder],
            "sts": [
                *("evaluation", "sts", "--module", ready / f"module{version}"),
                *("--data", f"{ready}/world/stsb", "--output", folder, "--again"),
            ],
        }[kind]


@pytest.fixture(scope="session")
def run():
    """Runs a command, see `server.run`."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(server.REPOSITORY))
        server.prepare()
        yield server.run


@pytest.fixture(scope="session")
def ready(run, tmp_path_factory):
    return Ready(run, tmp_path_factory.mktemp("ready"))

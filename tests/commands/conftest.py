"""Commands in processes of their own, and what they read: made by themselves."""

import shlex

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

COMMANDS = {
    "sample": "data_pipeline sample --output {folder} --comments 300 --seed 1",
    "reddit": "data_pipeline reddit --input {ready}/world/reddit/RC_* --output {folder} "
    "--train_shards 1",
    "snli": "data_pipeline snli --input {ready}/world/nli/*train* --output {folder}",
    "vocabulary": "data_pipeline vocabulary --input {ready}/pairs/train-* --output {folder} "
    "--min_count 1",
    "model": "model --experiment reddit --mode train --model_dir {folder} --config_file "
    "{ready}/tiny.yaml --params_override "
    "task.seed={version},task.train_data.input_path={ready}/pairs/train-*",
    "export": "export --model_dir {ready}/run{version} --output {folder}",
    "sts": "evaluation sts --module {ready}/module{version} --data {ready}/world/stsb "
    "--output {folder} --again",
}
"""Commands that write a folder; of two versions where it is of a model."""


def words_of(kind, folder, *, ready, version=0):
    """The words of such a command."""
    return shlex.split(COMMANDS[kind].format(folder=folder, ready=ready, version=version))


@pytest.fixture(scope="session")
def run():
    """Runs a command, see `server.run`."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(server.REPOSITORY))
        server.prepare()
        yield server.run


@pytest.fixture(scope="session")
def ready(run, tmp_path_factory):
    """A folder with a sample world, its pairs, and two models with their modules and results."""
    ready = tmp_path_factory.mktemp("ready")
    (ready / "tiny.yaml").write_text(PRESET)
    made = [("sample", 0, "world"), ("reddit", 0, "pairs"), ("snli", 0, "nli")]
    for version in (0, 1):
        for kind, name in (("model", "run"), ("export", "module"), ("sts", "results")):
            made.append((kind, version, f"{name}{version}"))
    log = ready / "log"
    for kind, version, name in made:
        words = words_of(kind, ready / name, ready=ready, version=version)
        assert run(words, log) == 0, log.read_text()
    return ready

import logging
import sys

import pytest
import tensorflow as tf

from data_pipeline.records import FEATURES, LABELS, encode_example, frame
from model import parameters
from model.__main__ import main

# Two CPU devices, so that MirroredStrategy has two replicas; must come before TensorFlow's
# first use of a device.
(_CPU,) = tf.config.list_physical_devices("CPU")
tf.config.set_logical_device_configuration(_CPU, [tf.config.LogicalDeviceConfiguration()] * 2)

TINY = """\
task:
  model:
    text: {max_tokens: 8, word_buckets: 3000, bigram_buckets: 1000}
    encoder: {type: averaging, averaging: {word_dim: 16, hidden: [], embedding_dim: 12}}
    response_network: {hidden: [], normalize: true}
    score_scale: 20.0
    nli: {hidden: [16]}
  train_data: {global_batch_size: 32, shuffle_buffer_size: 400}
  validation_data: {global_batch_size: 32}
trainer:
  train_steps: 60
  steps_per_loop: 20
  summary_interval: 20
  checkpoint_interval: 20
  validation_interval: 60
  optimizer_config:
    optimizer: {type: adagrad, adagrad: {initial_accumulator_value: 1.0e-6}}
    learning_rate: {type: constant, constant: {learning_rate: 0.05}}
"""


def write_shards(folder, side, records):
    for shard in range(2):
        name = f"{side}-{shard:05d}-of-00002.tfrecord"
        frames = [frame(encode_example(record)) for record in records[shard::2]]
        (folder / name).write_bytes(b"".join(frames))


@pytest.fixture(scope="session")
def pairs_folder(tmp_path_factory):
    """Pairs that can be learned: the response to "question N" says N in words of its own."""
    folder = tmp_path_factory.mktemp("pairs")
    for side, numbers in (("train", range(400)), ("test", range(64))):
        pairs = []
        for number in numbers:
            topic = number % 64
            texts = {"input": f"question{topic} number {number}", "response": f"answer{topic}"}
            ids = {"response_id": f"{side}_r{number}"}
            pairs.append(dict.fromkeys(FEATURES, "") | texts | ids)
        write_shards(folder, side, pairs)
    return folder


@pytest.fixture(scope="session")
def nli_folder(tmp_path_factory):
    """Sentence pairs whose label a word of the hypothesis tells."""
    folder = tmp_path_factory.mktemp("nli")
    for side, numbers in (("train", range(180)), ("test", range(48))):
        pairs = [
            {
                "premise": f"somebody sees thing{number}",
                "hypothesis": f"{('surely', 'perhaps', 'never')[number % 3]} thing{number % 7}",
                "label": number % len(LABELS),
                "pair_id": f"{side}_n{number}",
            }
            for number in numbers
        ]
        write_shards(folder, side, pairs)
    return folder


@pytest.fixture(autouse=True)
def quiet_absl():
    """Training sets absl's verbosity; leave it as it was."""
    level = logging.getLogger("absl").level
    yield
    logging.getLogger("absl").setLevel(level)


@pytest.fixture
def options(tmp_path, pairs_folder, nli_folder):
    """The flags of the tiny experiment, of any of the three kinds, with overrides."""
    path = tmp_path / "tiny.yaml"
    path.write_text(TINY)

    def flags(experiment="reddit", /, **overrides):
        folders = {"task": nli_folder if experiment == "nli" else pairs_folder}
        if experiment == "reddit_nli":
            folders["task.nli"] = nli_folder
        data = {
            f"{task}.{side}_data.input_path": f"{folder}/{files}-*"
            for task, folder in folders.items()
            for side, files in (("train", "train"), ("validation", "test"))
        }
        if experiment == "reddit_nli":
            sizes = {"global_batch_size": 16, "shuffle_buffer_size": 90}
            data |= {f"task.nli.train_data.{name}": size for name, size in sizes.items()}
            data["task.nli.validation_data.global_batch_size"] = 16
        overrides = data | {key.replace("__", "."): value for key, value in overrides.items()}
        return {
            "experiment": experiment,
            "config_file": str(path),
            "params_override": ",".join(f"{key}={value}" for key, value in overrides.items()),
        }

    return flags


@pytest.fixture
def parse(options):
    """The parameters of the tiny experiment, with overrides."""

    def params(*experiment, **overrides):
        flags = options(*experiment, **overrides)
        return parameters.parse(**flags | {"config_files": [flags.pop("config_file")]})

    return params


@pytest.fixture
def arguments(options):
    """The command line that trains the tiny experiment in a folder."""

    def command_line(folder, *experiment, mode="train", **overrides):
        flags = options(*experiment, **overrides) | {"mode": mode, "model_dir": str(folder)}
        return [part for name, value in flags.items() for part in (f"--{name}", value)]

    return command_line


@pytest.fixture
def ends(arguments, capfd):
    """Runs the command in this process; what it exits with, and the lines it says last."""

    def status_and_output(folder, *experiment, **options):
        capfd.readouterr()
        with pytest.raises(SystemExit) as raised:
            main(arguments(folder, *experiment, **options))
        if isinstance(raised.value.code, str):  # which Python prints, and exits with 1
            print(raised.value.code, file=sys.stderr)
            return 1, capfd.readouterr()
        return raised.value.code, capfd.readouterr()

    return status_and_output

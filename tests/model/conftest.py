import itertools
import shutil

import numpy as np
import pytest
import tensorflow as tf
import tf_keras

from common.tfrecord import FEATURES, LABELS, encode_example, frame
from model.__main__ import main
from model.configs import parsing
from model.training import run

# Two CPU devices, so that MirroredStrategy has two replicas; must come before TensorFlow's
# first use of a device.
(_CPU,) = tf.config.list_physical_devices("CPU")
tf.config.set_logical_device_configuration(_CPU, [tf.config.LogicalDeviceConfiguration()] * 2)

KEY_BASES = itertools.count(1_000_000, 1_000)

TINY = """\
task:
  model:
    text: {max_tokens: 8, word_buckets: 3000, bigram_buckets: 1000}
    encoder: {type: averaging, averaging: {word_dim: 16, hidden: [], embedding_dim: 12}}
    response_network: {hidden: [], normalize: true}
    score_scale: 20.0
    nli: {hidden: [16], members: 2}
  train_data: {global_batch_size: 32, shuffle_buffer_size: 400}
  validation_data: {global_batch_size: 32}
trainer:
  train_steps: 60
  steps_per_loop: 20
  checkpoint_interval: 20
  validation_interval: 60
  optimizer_config:
    optimizer: {type: adagrad, adagrad: {initial_accumulator_value: 1.0e-6}}
    learning_rate: {type: constant, constant: {learning_rate: 0.05}}
"""


def write_shards(folder, record, *, train, test):
    """Two files of each side: so many records, made of their side and number."""
    for side, count in (("train", train), ("test", test)):
        for shard in range(2):
            name = f"{side}-{shard:05d}-of-00002.tfrecord"
            records = (record(side, number) for number in range(shard, count, 2))
            (folder / name).write_bytes(b"".join(frame(encode_example(one)) for one in records))
    return folder


@pytest.fixture(scope="session")
def pairs_folder(tmp_path_factory):
    """Pairs that can be learned: the response to "question N" says N in words of its own."""

    def pair(side, number):
        topic = number % 64
        texts = {"input": f"question{topic} number {number}", "response": f"answer{topic}"}
        return dict.fromkeys(FEATURES, "") | texts | {"response_id": f"{side}_r{number}"}

    return write_shards(tmp_path_factory.mktemp("pairs"), pair, train=400, test=64)


@pytest.fixture(scope="session")
def nli_folder(tmp_path_factory):
    """Sentence pairs whose label a word of the hypothesis tells."""

    def pair(side, number):
        return {
            "premise": f"somebody sees thing{number}",
            "hypothesis": f"{('surely', 'perhaps', 'never')[number % 3]} thing{number % 7}",
            "label": number % len(LABELS),
            "pair_id": f"{side}_n{number}",
        }

    return write_shards(tmp_path_factory.mktemp("nli"), pair, train=180, test=48)


@pytest.fixture(scope="session")
def teacher_folder(tmp_path_factory):
    """Texts whose target is that of their topic, half floats [8], narrower than the student's."""
    topics = np.random.default_rng(3).normal(size=(64, 8))
    topics /= np.linalg.norm(topics, axis=1, keepdims=True)

    def target(side, number):
        return {
            "text": f"question{number % 64} number {number}",
            "embedding": topics[number % 64].astype("<f2").tobytes(),
            "text_id": f"{side}_t{number}",
        }

    return write_shards(tmp_path_factory.mktemp("teacher"), target, train=300, test=64)


@pytest.fixture(scope="session")
def flags(tmp_path_factory, pairs_folder, nli_folder, teacher_folder):
    """The flags of the tiny experiment, of any kind, with overrides."""
    path = tmp_path_factory.mktemp("presets") / "tiny.yaml"
    path.write_text(TINY)

    def overridden(experiment="reddit", /, **overrides):
        alone = {"nli": nli_folder, "teacher": teacher_folder}
        folders = {"task": alone.get(experiment, pairs_folder)}
        sizes = {}
        for name in experiment.split("_")[1:]:
            folders[f"task.{name}"] = alone[name]
            sizes |= {
                f"task.{name}.train_data.global_batch_size": 16,
                f"task.{name}.train_data.shuffle_buffer_size": 90,
                f"task.{name}.validation_data.global_batch_size": 16,
            }
        data = {
            f"{task}.{side}_data.input_path": f"{folder}/{files}-*"
            for task, folder in folders.items()
            for side, files in (("train", "train"), ("validation", "test"))
        }
        overrides = {key.replace("__", "."): value for key, value in overrides.items()}
        changes = [f"{key}={value}" for key, value in (data | sizes | overrides).items()]
        return {
            "experiment": experiment,
            "config_file": str(path),
            "params_override": ",".join(changes),
        }

    return overridden


@pytest.fixture(scope="session")
def parse(flags):
    """The parameters of the tiny experiment, with overrides."""

    def params(*experiment, **overrides):
        parts = flags(*experiment, **overrides)
        return parsing.parse(
            experiment=parts["experiment"],
            config_files=[parts["config_file"]],
            params_override=parts["params_override"],
        )

    return params


@pytest.fixture(scope="session")
def arguments(flags):
    """The command line that trains the tiny experiment in a folder."""

    def command_line(folder, *experiment, mode="train", **overrides):
        parts = flags(*experiment, **overrides) | {"mode": mode, "model_dir": str(folder)}
        return [part for name, value in parts.items() for part in (f"--{name}", value)]

    return command_line


@pytest.fixture
def ends(arguments, capfd):
    """Runs the command in this process: its exit status, and what it printed."""

    def status_and_output(folder, *experiment, **options):
        capfd.readouterr()
        try:
            main(arguments(folder, *experiment, **options))
        except SystemExit as ended:
            if not isinstance(ended.code, str):
                return ended.code, capfd.readouterr()
            printed = capfd.readouterr()
            # Not printed: a test that limits the size of files limits the captured output too.
            return 1, printed._replace(err=f"{printed.err}{ended.code}\n")
        return 0, capfd.readouterr()

    return status_and_output


@pytest.fixture(scope="session")
def sts_dev(tmp_path_factory):
    """Pairs of sentences as the STS Benchmark has them, and how similar people find them."""
    path = tmp_path_factory.mktemp("sts") / "sts-dev.csv"
    rows = [
        ("question1 number 2", "question1 number 9", 4.5),
        ("question2 number 2", "question3 number 9", 1.5),
        ("question4", "question4 number 4", 4.0),
        ("number 7", "question5 number 5", 0.5),
    ]
    lines = [f"main-news\tMSRpar\t2012\t{n}\t{s}\t{a}\t{b}\n" for n, (a, b, s) in enumerate(rows)]
    path.write_text("".join(lines))
    return path


@pytest.fixture(scope="session")
def reddit_run(parse, sts_dev, tmp_path_factory):
    """A finished run that kept an average and was validated thrice, on STS too."""
    folder = tmp_path_factory.mktemp("runs") / "reddit"
    params = parse(
        task__sts_dev=sts_dev, trainer__average_decay=0.9, trainer__validation_interval=20
    )
    run.run_experiment(params, mode="train_and_eval", folder=str(folder))
    return folder


@pytest.fixture(scope="session")
def run_of_20_steps(parse, tmp_path_factory):
    """A run that was trained to step 20 and not validated."""
    folder = tmp_path_factory.mktemp("runs") / "run"
    run.run_experiment(parse(trainer__train_steps=20), mode="train", folder=str(folder))
    return folder


@pytest.fixture
def begun(run_of_20_steps, tmp_path):
    """A copy of that run, to go on with."""
    return shutil.copytree(run_of_20_steps, tmp_path / "run")


@pytest.fixture
def bfloat16():
    """Layers made in the test compute in 16 bits."""
    tf_keras.mixed_precision.set_global_policy("mixed_bfloat16")
    yield
    tf_keras.mixed_precision.set_global_policy("float32")


@pytest.fixture
def two_replicas(monkeypatch):
    # A process remembers what each number of a collective was used for, and every strategy
    # counts from the same one on: TensorFlow's own tests do this too.
    monkeypatch.setattr(tf.distribute.MirroredStrategy, "_collective_key_base", next(KEY_BASES))
    return tf.distribute.MirroredStrategy([f"CPU:{number}" for number in range(2)])

"""An encoder of a user's own: its module is imported, the YAML names it, and the command trains."""

import json
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from common.errors import InputError
from model.__main__ import main
from model.configs import parsing, schema
from model.layers import encoders

REPOSITORY = Path(__file__).parents[3]
MODULE = '''\
import dataclasses

import tensorflow as tf
import tf_keras
from official.modeling import hyperparams

import model


@dataclasses.dataclass
class MeanConfig(hyperparams.Config):
    dim: int = 8
    activation: str = "tanh"


@model.register_encoder("mean", MeanConfig)
class MeanEncoder(model.SentenceEncoder):
    """The mean of the words' vectors, and a dense layer."""

    def __init__(self, *, table_sizes, dim, activation, name="mean_encoder", **kwargs):
        super().__init__(name=name, **kwargs)
        self.embedding_dim = dim
        self.words = tf_keras.layers.Embedding(table_sizes["words"], dim, mask_zero=True)
        self.mean = tf_keras.layers.GlobalAveragePooling1D()
        self.dense = tf_keras.layers.Dense(dim, activation=activation)

    @property
    def tables(self):
        return {"words": self.words.embeddings}

    def call(self, ids, training=False):
        mean = self.mean(self.words(ids["words"]))
        return {"default": tf.math.l2_normalize(self.dense(mean), axis=-1)}
'''


def run(folder, *command):
    path = os.pathsep.join([str(REPOSITORY), str(folder)])
    return subprocess.run(
        [sys.executable, *map(str, command)],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
def test_the_command_trains_exports_and_embeds_with_it(arguments, tmp_path):
    (tmp_path / "my_encoder.py").write_text(MODULE)
    encoder = {"type": "mean", "mean": {"dim": 6, "activation": "relu"}}
    (tmp_path / "mine.yaml").write_text(json.dumps({"task": {"model": {"encoder": encoder}}}))
    flags = arguments(tmp_path / "run", trainer__train_steps=20)
    train = ("-m", "model", "--import_module=my_encoder", *flags)
    done = run(tmp_path, *train, "--config_file", tmp_path / "mine.yaml")
    assert done.returncode == 0, done.stderr
    params = (tmp_path / "run" / "params.yaml").read_text()
    assert "activation: relu" in params
    assert "dim: 6" in params
    export = ("-m", "export", "--model_dir", tmp_path / "run", "--output", tmp_path / "module")
    refused = run(tmp_path, *export)
    assert refused.returncode == 1
    assert "'mean' is not registered" in refused.stderr
    assert refused.stderr.count("\n") == 1
    done = run(tmp_path, *export, "--import_module=my_encoder")
    assert done.returncode == 0, done.stderr
    embeds = "import sys, tensorflow_hub as hub, tensorflow_text; "
    embeds += "print(hub.load(sys.argv[1])(['how old are you', '']).shape)"
    assert "(2, 6)" in run(tmp_path, "-c", embeds, tmp_path / "module").stdout


LEARNS = """
import sys, tensorflow as tf, tf_keras, model, my_encoder
texts = [f"word{n % 97} word{n % 89} word{n % 83}" for n in range(4096)]
pairs = tf.data.Dataset.from_tensor_slices((texts, texts)).batch(128)
encoder = model.build("mean.yaml")
COMPILE
loss = encoder.fit(pairs, epochs=1, verbose=0).history["loss"][-1]
sys.exit(f"loss {loss}" if loss > 4.4 else 0)
"""
"""Chance is log(128), 4.85."""


@pytest.mark.slow
def test_the_encoder_of_the_documents_learns(tmp_path):
    page = (REPOSITORY / "docs" / "training.md").read_text()
    module = page.partition("    # my_encoder.py\n")[2].partition("\nThe YAML")[0]
    (tmp_path / "my_encoder.py").write_text(textwrap.dedent(module))
    (yaml,) = re.findall(r"^    (task: .*type: mean.*)$", page, re.MULTILINE)
    (tmp_path / "mean.yaml").write_text(yaml)
    (compiles,) = re.findall(r"^    (encoder\.compile\(.*)$", page, re.MULTILINE)
    done = run(tmp_path, "-c", LEARNS.replace("COMPILE", compiles))
    assert done.returncode == 0, done.stderr


def test_a_module_that_is_not_there_is_named(arguments, tmp_path):
    with pytest.raises(SystemExit, match="--import_module: 'my_encodr'"):
        main([*arguments(tmp_path / "none"), "--import_module=my_encodr"])


def test_names_that_are_taken_and_what_is_no_config_are_refused():
    class Mine(encoders.SentenceEncoder):
        tables = {}

    class Without(encoders.SentenceEncoder):
        pass

    with pytest.raises(TypeError, match="Without has no property `tables`: the vectors of the ids"):
        encoders.register_encoder("without", schema.Averaging)(Without)
    for name, config in (
        *(("type", schema.Averaging), ("transformer", schema.Transformer)),
        *(("mine", dict), ("my mine", schema.Nli)),
    ):
        with pytest.raises(ValueError, match=f"encoder '{name}'"):
            encoders.register_encoder(name, config)(Mine)
    with pytest.raises(InputError, match=r"encoder.mine: no such parameter.*--import_module"):
        parsing.parse(experiment="reddit", params_override="task.model.encoder.mine.x=1")

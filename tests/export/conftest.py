import functools
import os
import subprocess
import sys
from pathlib import Path

import pytest
import tensorflow as tf
import yaml

from export.__main__ import main
from export.retrieval import index
from export.saved_model import write
from model.configs import schema
from model.dual_encoder import build

HERE = Path(__file__).parent
BOTH = ["response_selection", "nli"]
MODEL = {
    "text": {"max_tokens": 8, "word_buckets": 300, "bigram_buckets": 400},
    "encoder": {
        "type": "averaging",
        "averaging": {"word_dim": 6, "hidden": [5], "embedding_dim": 7, "word_dropout": 0.5},
    },
    "response_network": {"hidden": [4]},
}
TRANSFORMER = {
    "type": "transformer",
    "transformer": {
        **{"layers": 2, "heads": 2, "hidden": 8, "filter": 16, "embedding_dim": 7},
        **{"dropout": 0.5, "word_dropout": 0.2},
    },
}
RECURRENT = {
    "type": "recurrent",
    "recurrent": {"word_dim": 6, "units": 4, "embedding_dim": 7, "dropout": 0.5},
}


def make_model_dir(folder, *, params_model=None, **changes):
    """Writes a model folder as training leaves it: a checkpoint and its params.yaml."""
    config = schema.ResponseSelection()
    changes = {key: value for key, value in changes.items() if value is not None}
    config.override({"model": MODEL | changes})
    model = build(config.model, seed=0)
    # Bigrams begin at zero: what is quantized and compared must not be nothing.
    for table in model.encoder.tables.values():
        table.assign(tf.random.stateless_normal(table.shape, seed=[1, 2]))
    tf.train.Checkpoint(model=model).save(str(folder / "ckpt"))
    params = {"task": {"model": params_model or config.model.as_dict()}}
    (folder / "params.yaml").write_text(yaml.safe_dump(params))
    return folder


@pytest.fixture
def write_model_dir(tmp_path):
    def make(name="run", **changes):
        return make_model_dir(tmp_path / name, **changes)

    return make


def verify_here(patch):
    """Modules are verified in this process: TensorFlow takes 8 seconds to start in another."""
    check = write.verify.check
    patch.setattr(write, "_verify_alone", lambda *paths: check(*map(str, paths)))


@pytest.fixture
def verified_here(monkeypatch):
    verify_here(monkeypatch)


@pytest.fixture(scope="session")
def shared(tmp_path_factory):
    """A model folder, `run`, and its module, `module`, both heads; to be read only."""
    folder = tmp_path_factory.mktemp("shared")
    make_model_dir(folder / "run", heads=BOTH)
    with pytest.MonkeyPatch.context() as patch:
        verify_here(patch)
        main(["--model_dir", str(folder / "run"), "--output", str(folder / "module")])
    return folder


@pytest.fixture(scope="module")
def loaded_once():
    """Modules are only read: each is loaded once for all tests."""
    import tensorflow_hub

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(index, "_load", functools.cache(index._load))
        patched.setattr(tensorflow_hub, "load", functools.cache(tensorflow_hub.load))
        yield


def ask(program, *arguments, cwd):
    """Runs a program of this folder as a stranger would, without this project on its path."""
    done = subprocess.run(
        [sys.executable, "-I", str(HERE / program), *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "TF_USE_LEGACY_KERAS": "0"},
        check=False,
    )
    assert "all is well" in done.stdout, done.stderr[-4000:]
    return done.stdout

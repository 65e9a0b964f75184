import pytest
import tensorflow as tf
import yaml

from model import configs
from model.dual_encoder import build

MODEL = {
    "text": {"max_tokens": 8, "word_buckets": 300, "bigram_buckets": 400},
    "encoder": {
        "type": "averaging",
        "averaging": {"word_dim": 6, "hidden": [5], "embedding_dim": 7, "word_dropout": 0.5},
    },
    "response_network": {"hidden": [4]},
}


@pytest.fixture
def write_model_dir(tmp_path):
    """Writes a model folder as training leaves it: a checkpoint and its params.yaml."""

    def make(name="run", params_model=None, encoder=None, heads=None):
        folder = tmp_path / name
        config = configs.ResponseSelection()
        changes = {"encoder": encoder, "heads": heads}
        changes = {key: value for key, value in changes.items() if value}
        config.override({"model": MODEL | changes})
        model = build(config.model, seed=0)
        tf.train.Checkpoint(model=model).save(str(folder / "ckpt"))
        params = {"task": {"model": params_model or config.model.as_dict()}}
        (folder / "params.yaml").write_text(yaml.safe_dump(params))
        return folder

    return make

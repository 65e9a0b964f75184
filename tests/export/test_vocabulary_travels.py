"""A module carries its vocabulary: it says the same when the vocabulary's folder is gone."""

import json
import os
import shutil
import subprocess
import sys

import numpy as np
import pytest
import tensorflow as tf
import yaml

from data_pipeline.__main__ import main as data_pipeline
from data_pipeline.pairs.tfrecord import encode_example, frame
from export.__main__ import main as export
from model.checkpoints import trained
from model.configs import schema
from model.dual_encoder import build

SENTENCES = ["red fish", "Red FISH?", "something else", "", "🎂 \x00"]
STRANGER = """
import json, sys, warnings
warnings.simplefilter("ignore")
import tensorflow as tf, tensorflow_text
try:
    import model
except ImportError:
    pass
else:
    raise AssertionError("model can be imported here: this proves nothing")
module = tf.saved_model.load(sys.argv[1])
rows = module(json.loads(sys.argv[2]))
print(json.dumps(rows.numpy().tolist()))
"""


@pytest.fixture
def vocabulary(tmp_path):
    pairs = tmp_path / "pairs.tfrecord"
    pair = {"input": "red fish, red fish?", "response": "blue fish"}
    pairs.write_bytes(frame(encode_example(pair)))
    folder = tmp_path / "vocabulary"
    data_pipeline(
        ["vocabulary", "--input", str(pairs), "--output", str(folder), "--min_count", "1"]
    )
    return folder


@pytest.fixture
def model_dir(tmp_path, vocabulary):
    """As training leaves it, with few buckets."""
    folder = tmp_path / "run"
    averaging = {"word_dim": 6, "hidden": [5], "embedding_dim": 7}
    text = {"max_tokens": 8, "word_buckets": 3, "bigram_buckets": 4}
    config = schema.ResponseSelection()
    config.override(
        {
            "model": {
                "text": text | {"vocabulary": str(vocabulary)},
                "encoder": {"type": "averaging", "averaging": averaging},
            }
        }
    )
    model = build(config.model, seed=0)
    tf.train.Checkpoint(model=model).save(str(folder / "ckpt"))
    params = {"task": {"model": config.model.as_dict()}}
    (folder / "params.yaml").write_text(yaml.safe_dump(params))
    return folder


@pytest.mark.slow
@pytest.mark.usefixtures("verified_here")
def test_a_module_stands_without_the_folder(model_dir, vocabulary, tmp_path):
    model, text = trained.load(model_dir)
    expected = model.encode_inputs(text(tf.constant(SENTENCES))).numpy()
    hashed_only = schema.Text(max_tokens=8, word_buckets=3, bigram_buckets=4)
    assert (text(tf.constant(SENTENCES))["words"].numpy().max()) > hashed_only.word_buckets

    export(["--model_dir", str(model_dir), "--output", str(tmp_path / "module")])
    shutil.rmtree(vocabulary)
    shutil.rmtree(model_dir)
    (tmp_path / "module").rename(tmp_path / "elsewhere")
    assert {path.name for path in (tmp_path / "elsewhere" / "assets").iterdir()} == {
        *("words.tsv", "bigrams.tsv")
    }
    done = subprocess.run(
        [sys.executable, "-I", "-c", STRANGER, str(tmp_path / "elsewhere"), json.dumps(SENTENCES)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    np.testing.assert_allclose(json.loads(done.stdout), expected, atol=1e-6)


def test_an_export_whose_vocabulary_is_gone_says_so(model_dir, vocabulary, tmp_path):
    shutil.rmtree(vocabulary)
    with pytest.raises(SystemExit) as raised:
        export(["--model_dir", str(model_dir), "--output", str(tmp_path / "module")])
    message = str(raised.value.code)
    assert message.startswith(f"error: task.model.text.vocabulary: '{vocabulary}'")
    assert "\n" not in message

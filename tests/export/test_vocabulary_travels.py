"""A module carries its vocabulary: it says the same when the vocabulary's folder is gone."""

import shutil

import numpy as np
import pytest
import tensorflow as tf

from data_pipeline.__main__ import main as data_pipeline
from data_pipeline.pairs.tfrecord import encode_example, frame
from export.__main__ import main as export
from model.checkpoints import trained

SENTENCES = ["red fish", "Red FISH?", "something else", "", "🎂 \x00"]
WORD_BUCKETS = 3


@pytest.fixture
def vocabulary(tmp_path):
    pairs, folder = tmp_path / "pairs.tfrecord", tmp_path / "vocabulary"
    pair = {"input": "red fish, red fish?", "response": "blue fish"}
    pairs.write_bytes(frame(encode_example(pair)))
    data_pipeline(
        ["vocabulary", "--input", str(pairs), "--output", str(folder), "--min_count", "1"]
    )
    return folder


@pytest.fixture
def model_dir(vocabulary, write_model_dir):
    buckets = {"max_tokens": 8, "word_buckets": WORD_BUCKETS, "bigram_buckets": 4}
    return write_model_dir(text=buckets | {"vocabulary": str(vocabulary)})


@pytest.mark.slow
@pytest.mark.usefixtures("verified_here")
def test_a_module_stands_without_the_folder(model_dir, vocabulary, tmp_path):
    model, text = trained.load(model_dir)
    ids = text(tf.constant(SENTENCES))
    expected = model.encode_inputs(ids).numpy()
    assert ids["words"].numpy().max() > WORD_BUCKETS  # some words are known
    export(["--model_dir", str(model_dir), "--output", str(tmp_path / "module")])
    shutil.rmtree(vocabulary)
    shutil.rmtree(model_dir)
    (tmp_path / "module").rename(tmp_path / "elsewhere")
    assets = {path.name for path in (tmp_path / "elsewhere" / "assets").iterdir()}
    assert assets == {"words.tsv", "bigrams.tsv"}
    # TensorFlow shares a table by the name of its file: this is the first of this name.
    module = tf.saved_model.load(str(tmp_path / "elsewhere"))
    np.testing.assert_allclose(module(SENTENCES), expected, atol=1e-6)


def test_an_export_whose_vocabulary_is_gone_says_so(model_dir, vocabulary, tmp_path):
    shutil.rmtree(vocabulary)
    with pytest.raises(SystemExit, match="vocabulary") as raised:
        export(["--model_dir", str(model_dir), "--output", str(tmp_path / "module")])
    assert str(vocabulary) in raised.value.code

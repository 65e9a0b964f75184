"""Modules as other libraries load them."""

import json

import conversational_embeddings
import numpy as np
import onnx
import pytest
from onnx.reference import ReferenceEvaluator
from safetensors.numpy import load_file
from scipy.stats import pearsonr
from tokenizers import Tokenizer

from common import sts
from evaluation.encoders import load_encoder
from export.__main__ import main
from tests.test_pretrained import MODULE

KNOWN = ["How old are you?", "what is your AGE ?", "the dog's ball", "it\u2019s me"]
UNKNOWN = ["a hackysack player", "somebody plays a flute in the street", "boookkkeeper's zzzs"]


@pytest.fixture(scope="module")
def static(tmp_path_factory):
    """The pretrained module in two forms."""
    folder = tmp_path_factory.mktemp("formats")
    for to in ("model2vec", "onnx"):
        main(["formats", "--module", str(MODULE), "--to", to, "--output", str(folder / to)])
    return folder


def cosines(rows, texts):
    rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return np.sum(rows * conversational_embeddings.load(MODULE).encode(texts), axis=1)


def test_known_words_are_summed_exactly_and_others_nearly(static):
    table = load_file(static / "model2vec" / "model.safetensors")["embeddings"]
    tokenizer = Tokenizer.from_file(str(static / "model2vec" / "tokenizer.json"))
    means = [
        table[encoding.ids].mean(axis=0) for encoding in tokenizer.encode_batch(KNOWN + UNKNOWN)
    ]
    found = cosines(np.stack(means), KNOWN + UNKNOWN)
    # The bias counts the root of the number of words, which a mean cannot know.
    assert found[: len(KNOWN)].min() > 0.99
    # Their n-grams are known, their buckets are not.
    assert found[len(KNOWN) :].min() > 0.9
    assert table.dtype == np.float32
    assert tokenizer.encode("").ids == []
    modules = json.loads((static / "model2vec" / "modules.json").read_text())
    assert [module["path"] for module in modules] == [".", "1_Normalize"]
    again = (static / "onnx" / "tokenizer.json").read_bytes()
    assert (static / "model2vec" / "tokenizer.json").read_bytes() == again


def test_similarity_of_real_sentences_loses_at_most_a_hundredth(static, real_data):
    (source,) = sts.sources(real_data / "stsb" / "sts-dev.csv")
    pairs = sts.read(source).pairs
    encoders = (conversational_embeddings.load(MODULE), load_encoder(static / "model2vec"))
    module, form = (
        pearsonr(
            np.sum(
                encoder.encode([pair.sentence1 for pair in pairs])
                * encoder.encode([pair.sentence2 for pair in pairs]),
                axis=1,
            ),
            [pair.gold for pair in pairs],
        ).statistic
        for encoder in encoders
    )
    assert module > 0.8
    assert form > module - 0.01


def test_the_graph_of_onnx_pools_and_normalizes(static):
    tokenizer = Tokenizer.from_file(str(static / "onnx" / "tokenizer.json"))
    tokenizer.enable_padding()
    encodings = tokenizer.encode_batch(KNOWN)
    feeds = {
        "input_ids": np.array([encoding.ids for encoding in encodings]),
        "attention_mask": np.array([encoding.attention_mask for encoding in encodings]),
    }
    model = onnx.load(static / "onnx" / "model.onnx")
    onnx.checker.check_model(model, full_check=True)
    (rows,) = ReferenceEvaluator(model).run(None, feeds)
    assert cosines(rows, KNOWN).min() > 0.99
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, rtol=1e-5)


@pytest.mark.usefixtures("verified_here")
def test_hashed_words_are_refused(write_model_dir, tmp_path):
    averaging = {"word_dim": 6, "hidden": [], "embedding_dim": 6}
    folder = write_model_dir(
        text={"max_tokens": 8, "word_buckets": 30, "bigram_buckets": 0},
        encoder={"type": "averaging", "averaging": averaging},
        response_network={"hidden": []},
    )
    main(["--model_dir", str(folder), "--output", str(tmp_path / "module")])
    with pytest.raises(SystemExit, match="vocabulary"):
        main(f"formats --module {tmp_path}/module --to onnx --output {tmp_path}/o".split())
    assert not (tmp_path / "o").exists()


def test_a_folder_that_holds_anything_stays(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(SystemExit, match="--output"):
        main(["formats", "--module", str(MODULE), "--to", "onnx", "--output", str(tmp_path)])
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]

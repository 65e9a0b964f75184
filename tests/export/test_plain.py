"""The forms of a module without TensorFlow: our own, and those of other libraries."""

import json
import math
import random
import shutil
import string
import sys
import time
import unicodedata
from pathlib import Path

import conversational_embeddings
import numpy as np
import onnx
import pytest
import tensorflow as tf
from conversational_embeddings import _module
from conversational_embeddings._farmhash import fingerprint64
from conversational_embeddings._tokens import tokens
from onnx.reference import ReferenceEvaluator
from safetensors.numpy import load_file
from tokenizers import Tokenizer

from common import sts
from evaluation.encoders import load_encoder
from evaluation.tasks.sts import evaluate
from export.__main__ import main
from export.module import plain
from export.module.hub_module import HubModule
from model.checkpoints.model_dir import read_params
from model.checkpoints.trained import load
from model.text import preprocessing
from tests.test_pretrained import MODULE

REPOSITORY = Path(__file__).parents[2]
TEXTS = [
    "How old are you?",
    "how  OLD are\tyou",
    "",
    "an unheard-of hippopotomonstrosesquippedaliophobia, don't you think?",
    "l´été où “l'un” ﬁnit … 日本語 ½ 😀 \u200b\u00ad\u0085",
    "a b c d e f g h i j k l",
    "longest " * 3000,
    "é" * 100_000,
]
EXACT = {"rtol": 0, "atol": 1e-6}
AVERAGING = {"word_dim": 6, "hidden": [], "embedding_dim": 6, "bigram_weight": 0.5}
KNOWN = {"you": 9, "</s>": 8, "été": 2}, ["are you"]
MODELS = {
    "float32": ({"word_buckets": 300, "bigram_buckets": 400}, AVERAGING, {}),
    "int8": ({"word_buckets": 300}, AVERAGING, {"residual": True, "normalize": True}),
    "bfloat16": ({"word_buckets": 300}, AVERAGING | {"embedding_dim": 9}, {"normalize": True}),
    "float16": (
        {"word_buckets": 30, "bigram_buckets": 40, "char_ngram_buckets": 90, "vocabulary": True},
        AVERAGING | {"word_weights": "fixed", "char_ngram_weight": 0.7},
        {"residual": True},
    ),
}


@pytest.mark.parametrize("variant", MODELS)
def test_it_gives_the_vectors_of_the_module(variant, write_model_dir, write_vocabulary):
    text, averaging, response = MODELS[variant]
    if "vocabulary" in text:
        text = text | {"vocabulary": write_vocabulary(*KNOWN)}
    folder = write_model_dir(
        text={"max_tokens": 8, "bigram_buckets": 0} | text,
        encoder={"type": "averaging", "averaging": averaging},
        response_network={"hidden": []} | response,
    )
    model, text = load(folder)
    for layer in (model.encoder, model.response_network):
        for weight in layer.weights:
            if weight.dtype == tf.float32 and weight.shape.rank == 1:  # biases begin at zero
                weight.assign(tf.random.stateless_uniform(weight.shape, [3, 4]))
    dim = model.encoder.embedding_dim
    rotated = np.linalg.qr(np.random.default_rng(0).normal(size=(dim, dim)))[0].astype(np.float32)
    module = HubModule(
        model, text, variant=variant, components=rotated[:, :2], sts_matrix=2 * rotated
    )
    plain.write(module, read_params(folder)["task"]["model"], folder)
    found = conversational_embeddings.load(folder)
    strings, heads = tf.constant(TEXTS), module.heads
    assert found.dim == dim
    u = model.encode_inputs(text(strings))
    np.testing.assert_allclose(heads["encode_input"](strings)["outputs"], u, atol=0.03)
    expected = module(strings).numpy()
    np.testing.assert_allclose(found.encode(TEXTS), expected, **EXACT)
    np.testing.assert_allclose(found.encode(TEXTS * 9), np.tile(expected, (9, 1)), **EXACT)
    for name in ("encode_input", "encode_response"):
        expected = heads[name](strings)["outputs"]
        np.testing.assert_allclose(getattr(found, name)(TEXTS), expected, **EXACT)
    expected = heads["similarity"](strings, strings[::-1])["angular"]
    np.testing.assert_allclose(found.similarity(TEXTS, TEXTS[::-1]), expected, **EXACT)
    expected = heads["rank_responses"](strings[:1], strings)["scores"]
    np.testing.assert_allclose(found.rank(TEXTS[0], TEXTS), expected, **EXACT)
    assert found.encode([]).shape == (0, dim)


def test_an_export_writes_it_for_sums_of_rows_alone_and_carries_the_vocabulary(
    shared, write_model_dir, write_vocabulary, tmp_path, verified_here
):
    known, sums = write_vocabulary(*KNOWN), tmp_path / "sums"
    text = {"max_tokens": 8, "word_buckets": 30, "bigram_buckets": 40, "vocabulary": known}
    averaging = {"encoder": {"type": "averaging", "averaging": AVERAGING}}
    folder = write_model_dir(text=text, **averaging, response_network={"hidden": []})
    model, to_ids = load(folder)
    expected = model.encode_inputs(to_ids(tf.constant(TEXTS)))
    main(["--model_dir", str(folder), "--output", str(sums)])
    for module, has_it in ((sums, True), (shared / "module", False)):
        found = {path.name for path in module.iterdir()}
        assert ({"model.safetensors", "config.json"} <= found) == has_it
        card = (module / "README.md").read_text()
        assert ("import conversational_embeddings" in card) == has_it
    with pytest.raises(FileNotFoundError, match=str(shared)):
        conversational_embeddings.load(shared / "module")
    shutil.rmtree(known)
    module = tf.saved_model.load(str(sums.rename(tmp_path / "elsewhere")))
    np.testing.assert_allclose(module(TEXTS), expected, **EXACT)


def test_the_pretrained_module_gives_the_same_vectors_of_real_texts():
    pretrained = conversational_embeddings.load(MODULE)
    module = tf.saved_model.load(str(MODULE))
    texts = TEXTS + (REPOSITORY / "README.md").read_text().splitlines()
    np.testing.assert_allclose(pretrained.encode(texts), module(texts), **EXACT)


@pytest.mark.parametrize("cores", [1, 2])
def test_a_batch_gives_the_vectors_of_its_texts(cores, monkeypatch):
    monkeypatch.setattr(_module, "_BLOCK", 300)
    monkeypatch.setattr(_module, "_cores", lambda: cores)
    rng = random.Random(0)
    alphabets = string.printable + "''`\0\x01\x7f", "aB1'` .\0", "eé´\u0301 '"
    texts = ["".join(rng.choices(rng.choice(alphabets), k=rng.randrange(60))) for _ in range(3000)]
    for size in (1, 3, 4, 7, 8, 15, 16, 17):  # words that have no rows of their own
        texts += [f"{'qzxjv' * 4}"[:size], f"'{'zqxjv' * 4}"[:size] + "?"]
    texts += ["a " * 127 + "b", " a" * 128, "a " * 129, "word " * 126 + "a b c", "'" * 300]
    texts += ["x y" * 2731, "x" * 8192, " " * 9000 + "far", *TEXTS]
    pretrained = conversational_embeddings.load(MODULE)
    expected = np.concatenate([pretrained.encode([text]) for text in texts])
    np.testing.assert_allclose(pretrained.encode(texts), expected, **EXACT)
    with pytest.raises(TypeError, match="None"):
        pretrained.encode([*texts, None, *texts])


def test_an_error_in_one_thread_ends_both():
    begun = []

    def work(number):
        begun.append(number)
        if number == 3:
            raise KeyboardInterrupt
        time.sleep(0.001)

    with pytest.raises(KeyboardInterrupt):
        _module._in_two_threads(work, ((number,) for number in range(5000)))
    assert len(begun) < 2500


def test_hashes_of_words_of_any_length_are_tensorflows():
    texts = [random.Random(length).randbytes(length) for length in range(300)]
    expected = tf.strings.to_hash_bucket_fast(texts, 2**31 - 1).numpy().tolist()
    assert [fingerprint64(text) % (2**31 - 1) for text in texts] == expected


def test_tokens_are_those_of_the_text_handling():
    known = [
        chr(code)
        for code in range(1, sys.maxunicode + 1)
        if unicodedata.category(chr(code)) not in ("Cn", "Cs")
    ]
    rng = random.Random(0)
    odd = "'`’´\u0301\t\r \x85\u1680\u2028" * 9
    mixed = ["".join(rng.choices([*known[:3000], *odd], k=30)) for _ in range(3000)]
    texts = [*known, *mixed, f"{' ' * 9000}far", f"{'é ' * 4096}cut"]
    found = preprocessing.tokenize(preprocessing._cut(tf.constant(texts), 128 * 64))
    expected = [[token.decode() for token in row] for row in found.to_list()]
    assert [tokens(text, 128) for text in texts] == [row[:128] for row in expected]


def test_wrong_use_is_named(tmp_path):
    pretrained = conversational_embeddings.load(MODULE)
    with pytest.raises(TypeError, match="one text"):
        pretrained.encode("one text")
    for wrong in (None, 3, b"bytes", math.nan):
        with pytest.raises(TypeError, match=repr(wrong)):
            pretrained.encode(["fine", wrong])
    with pytest.raises(ValueError, match="texts2"):
        pretrained.similarity(["a"], ["b", "c"])
    (tmp_path / "config.json").write_text('{"format": 2}')
    with pytest.raises(ValueError, match="format"):
        conversational_embeddings.load(tmp_path)


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("vocabulary", lambda content: content[: len(content) // 2]),
        ("vocabulary", lambda content: b""),
        ("config.json", lambda content: content[:-9]),
        ("model.safetensors", lambda content: content[:-9]),
    ],
)
def test_a_damaged_file_is_refused(name, damage, tmp_path):
    for each in ("config.json", "model.safetensors", "vocabulary"):
        shutil.copy(MODULE / each, tmp_path)
    conversational_embeddings.load(tmp_path)
    (tmp_path / name).write_bytes(damage((MODULE / name).read_bytes()))
    with pytest.raises(ValueError, match=tmp_path.name):
        conversational_embeddings.load(tmp_path)


SPELT = ["How old are you?", "what is your AGE ?", "the dog's ball", "it\u2019s me"]
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
        table[encoding.ids].mean(axis=0) for encoding in tokenizer.encode_batch(SPELT + UNKNOWN)
    ]
    found = cosines(np.stack(means), SPELT + UNKNOWN)
    # The bias counts the root of the number of words, which a mean cannot know.
    assert found[: len(SPELT)].min() > 0.99
    # Their n-grams are known, their buckets are not.
    assert found[len(SPELT) :].min() > 0.9
    assert table.dtype == np.float32
    assert tokenizer.encode("").ids == []
    modules = json.loads((static / "model2vec" / "modules.json").read_text())
    assert [module["path"] for module in modules] == [".", "1_Normalize"]
    again = (static / "onnx" / "tokenizer.json").read_bytes()
    assert (static / "model2vec" / "tokenizer.json").read_bytes() == again


def test_a_long_text_is_read_to_its_end(static):
    encoder = load_encoder(static / "model2vec")
    words = "dog", "violin"
    text = " ".join(word for word in words for _ in range(600))
    np.testing.assert_allclose(encoder.encode([text]) @ encoder.encode(words).T, 0.7, atol=0.25)


def test_similarity_of_real_sentences_loses_at_most_a_hundredth(static, real_data):
    (source,) = sts.sources(real_data / "stsb" / "sts-dev.csv")
    encoders = (conversational_embeddings.load(MODULE), load_encoder(static / "model2vec"))
    results = (evaluate(encoder, sts.read(source)) for encoder in encoders)
    module, form = (result.metrics["cosine_pearson"] for result in results)
    assert module > 0.8
    assert form > module - 0.01


def test_the_graph_of_onnx_pools_and_normalizes(static):
    tokenizer = Tokenizer.from_file(str(static / "onnx" / "tokenizer.json"))
    tokenizer.enable_padding()
    encodings = tokenizer.encode_batch(SPELT)
    feeds = {
        "input_ids": np.array([encoding.ids for encoding in encodings]),
        "attention_mask": np.array([encoding.attention_mask for encoding in encodings]),
    }
    model = onnx.load(static / "onnx" / "model.onnx")
    onnx.checker.check_model(model, full_check=True)
    (rows,) = ReferenceEvaluator(model).run(None, feeds)
    assert cosines(rows, SPELT).min() > 0.99
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, rtol=1e-5)


def test_hashed_words_are_refused(tmp_path):
    module = shutil.copytree(MODULE, tmp_path / "module", ignore=lambda *_: ["variables"])
    config = json.loads((module / "config.json").read_text())
    del config["words"]["vocabulary"]
    (module / "config.json").write_text(json.dumps(config))
    with pytest.raises(SystemExit, match="vocabulary"):
        main(f"formats --module {module} --to onnx --output {tmp_path}/o".split())
    assert not (tmp_path / "o").exists()


def test_a_folder_that_holds_anything_stays(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(SystemExit, match="--output"):
        main(["formats", "--module", str(MODULE), "--to", "onnx", "--output", str(tmp_path)])
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]

"""The plain form: the vectors of the SavedModel without TensorFlow."""

import json
import math
import random
import shutil
import string
import subprocess
import sys
import time
import unicodedata
from pathlib import Path

import conversational_embeddings
import numpy as np
import pytest
import tensorflow as tf
from conversational_embeddings import _module
from conversational_embeddings._farmhash import fingerprint64
from conversational_embeddings._tokens import tokens

from export.__main__ import main
from export.module import plain
from export.module.hub_module import HubModule
from model.checkpoints.model_dir import read_params
from model.checkpoints.trained import load
from model.text import preprocessing
from tests.test_pretrained import MODULE

REPOSITORY = Path(__file__).parents[2]
RUNTIME = REPOSITORY / "runtime"
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


def write_vocabulary(folder):
    folder.mkdir()
    outputs = {}
    for kind, lines in (("words", "you\t9\n</s>\t8\nété\t2\n"), ("bigrams", "are you\t5\n")):
        path = folder / f"{kind}.tsv"
        path.write_text(lines, encoding="utf-8")
        outputs[path.name] = {"bytes": path.stat().st_size, "records": lines.count("\n")}
    (folder / "COMPLETED").write_text(json.dumps({"outputs": outputs}))
    return str(folder)


@pytest.fixture(params=MODELS)
def model_dir(request, write_model_dir, tmp_path):
    """Of a model that a variant is exported of; and the variant."""
    text, averaging, response = MODELS[request.param]
    if "vocabulary" in text:
        text = text | {"vocabulary": write_vocabulary(tmp_path / "words")}
    folder = write_model_dir(
        text={"max_tokens": 8, "bigram_buckets": 0} | text,
        encoder={"type": "averaging", "averaging": averaging},
        response_network={"hidden": []} | response,
    )
    return folder, request.param


def test_it_gives_the_vectors_of_the_module(model_dir, tmp_path):
    folder, variant = model_dir
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


def test_an_export_writes_it_for_sums_of_rows_alone(write_model_dir, tmp_path, verified_here):
    averaging = {"type": "averaging", "averaging": AVERAGING}
    for name, hidden, has_it in (("sums", [], True), ("deep", [4], False)):
        folder = write_model_dir(name, encoder=averaging, response_network={"hidden": hidden})
        main(["--model_dir", str(folder), "--output", str(tmp_path / f"{name}.module")])
        found = {path.name for path in (tmp_path / f"{name}.module").iterdir()}
        assert ({"model.safetensors", "config.json"} <= found) == has_it
        card = (tmp_path / f"{name}.module/README.md").read_text()
        assert ("import conversational_embeddings" in card) == has_it
    with pytest.raises(FileNotFoundError, match=r"deep\.module"):
        conversational_embeddings.load(tmp_path / "deep.module")


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


@pytest.mark.slow
def test_a_fresh_environment_prints_the_lines_of_its_readme(tmp_path):
    python = tmp_path / "venv" / "bin" / "python"
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    shutil.copytree(RUNTIME, tmp_path / "runtime")  # setuptools builds beside the source
    install = [python, "-m", "pip", "install", "--quiet", tmp_path / "runtime"]
    subprocess.run(install, check=True)
    command = [python, "-m", "doctest", RUNTIME / "README.md"]
    assert subprocess.run(command, cwd=REPOSITORY, check=True, capture_output=True).stdout == b""

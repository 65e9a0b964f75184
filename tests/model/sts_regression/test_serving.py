import json
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.core.protobuf.saved_model_pb2 import SavedModel

from evaluation.__main__ import main as evaluate
from model.sts_regression import serving
from model.sts_regression.__main__ import main
from model.sts_regression.data import modules, vectors
from model.sts_regression.training import training


class Embedder(tf.Module):
    """Text to its share of each letter."""

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
    def serve(self, inputs):
        letters = tf.strings.bytes_split(inputs)
        codes = tf.strings.to_hash_bucket_fast(letters, 31)
        return {"outputs": tf.reduce_sum(tf.one_hot(codes, 31), axis=1)}


@pytest.fixture(scope="module")
def exported(command, tmp_path_factory):
    folder = tmp_path_factory.mktemp("export") / "regressor"
    line = command("export", folder, "--row", "lstm1_lstm1", "--export_words", 3)
    assert main(line) == 0
    return folder


@pytest.fixture(scope="module")
def regressor(exported):
    module = tf.saved_model.load(str(exported))
    similarity = module.signatures["similarity"]

    def score(first, second):
        assert module is not None
        return similarity(sentences1=tf.constant(first), sentences2=tf.constant(second))["score"]

    return score


@pytest.mark.slow
def test_evaluation_scores_it_like_any_other_module(exported, corpora, tmp_path):
    options = ["--module", exported, "--data", corpora / "stsb", "--output", tmp_path]
    evaluate(["sts", *map(str, options)])
    found = json.loads((tmp_path / "sts-dev.json").read_text())
    pairs = [
        line.split("\t") for line in (corpora / "stsb" / "sts-dev.csv").read_text().splitlines()
    ]
    similarity = tf.saved_model.load(str(exported)).signatures["similarity"]
    sides = ([pair[k] for pair in pairs] for k in (5, 6))
    scores = similarity(**{f"sentences{k}": tf.constant(s) for k, s in enumerate(sides, 1)})[
        "score"
    ]
    expected = np.corrcoef(scores, [float(pair[4]) for pair in pairs])[0, 1]
    assert found["metrics"]["pearson"] == pytest.approx(expected, abs=1e-4)


def test_it_scores_pairs_of_strings(regressor):
    found = regressor(["Cats purr today.", "unheard of"], ["dogs bark here .", "cats purr"])
    assert found.dtype == tf.float32
    assert found.shape == (2,)
    assert ((found.numpy() >= 0) & (found.numpy() <= 5)).all()
    alone = regressor(["cats purr today ."], ["dogs bark here ."])
    np.testing.assert_allclose(found[0], alone[0], atol=1e-5)


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        (["cats", " "], ["cats", "cats"], r"sentences1: no words in the sentences at.*\[1\]"),
        (["cats"], [""], r"sentences2: no words in the sentences at.*\[0\]"),
        (
            ["cats", "dogs"],
            ["cats"],
            r"sentences1 and sentences2 differ in number:.* 2 1|\[2\] \[1\]",
        ),
    ],
)
def test_bad_input_is_named(regressor, first, second, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        regressor(first, second)


def test_nothing_but_a_module_is_replaced(command, tmp_path, capsys):
    (tmp_path / "mine.txt").write_text("mine")
    line = command("export", tmp_path, "--row", "sif_perceptron")
    assert main(line) == 1
    not_ours = "exists, and is not a regressor; name another folder"
    assert not_ours in capsys.readouterr().err
    other = tf.Module()
    other.call = tf.function(lambda x: x, input_signature=[tf.TensorSpec([], tf.float32)])
    tf.saved_model.save(other, str(tmp_path), signatures={"call": other.call})
    assert main(line) == 1
    assert not_ours in capsys.readouterr().err
    tf.saved_model.save(other, str(tmp_path), signatures={"similarity": other.call})
    assert main(line) == 1
    assert "holds 'mine.txt', which is not part of a regressor" in capsys.readouterr().err
    assert (tmp_path / "mine.txt").exists()


@pytest.fixture(scope="module")
def embedder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("embedder")
    made = Embedder()
    tf.saved_model.save(made, str(folder), signatures={"serving_default": made.serve})
    return folder


def test_embeddings_are_of_unit_length(embedder):
    found = modules.embeddings(embedder, ["ab", "aaa", "ab"])
    assert sorted(found) == ["aaa", "ab"]
    np.testing.assert_allclose(np.sort(found["ab"])[-3:], [0, 0.5**0.5, 0.5**0.5], atol=1e-6)


@pytest.mark.slow
def test_the_cosine_is_scored_on_the_same_folds(command, embedder, tmp_path, capsys):
    options = ("--rows", "sif_perceptron", "--module", embedder, "--jobs", 1)
    assert main(command("run", tmp_path, *options)) == 0
    table = capsys.readouterr().out
    assert "Cosine of the module, tuned" in table
    names = {path.stem.rpartition("-")[2] for path in (tmp_path / "results").iterdir()}
    assert names == {"sif_perceptron", "cosine", "tuned_cosine"}


@pytest.mark.slow
def test_the_untuned_cosine_has_an_interval_over_pairs_of_the_tests(command, embedder, tmp_path):
    options = ("--rows", "sif_perceptron", "--module", embedder, "--jobs", 1)
    assert main(command("run", tmp_path, *options)) == 0
    path = tmp_path / "results" / "sts_regression-sts2016-random-cosine.json"
    low, high = json.loads(path.read_text())["intervals"]["pearson_sts2017_track5"]
    assert low < high


def test_where_it_cannot_be_written_is_said_before_it_trains(command, tmp_path, monkeypatch):
    (tmp_path / "mine.txt").write_text("mine")
    monkeypatch.setattr(training, "train", None)  # calling it would fail
    line = command("export", tmp_path, "--row", "sif_perceptron")
    assert main(line) == 1


def test_the_module_that_was_there_stays_if_the_new_one_cannot_be_put_there(tmp_path, monkeypatch):
    old = tmp_path / "module"
    old.mkdir()
    content = SavedModel()
    content.meta_graphs.add().signature_def["similarity"].SetInParent()
    (old / "saved_model.pb").write_bytes(content.SerializeToString())
    replace = Path.replace

    def failing(self, target):
        if self.name == "new":
            raise PermissionError("not here")
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", failing)
    monkeypatch.setattr(serving, "Similarity", lambda *_: Embedder())
    monkeypatch.setattr(tf.saved_model, "save", lambda _, folder, **__: Path(folder).mkdir())
    monkeypatch.setattr(Embedder, "similarity", None, raising=False)
    with pytest.raises(PermissionError):
        serving.write(old, None, None)
    assert (old / "saved_model.pb").read_bytes() == content.SerializeToString()
    assert [path.name for path in tmp_path.iterdir()] == ["module"]


@pytest.mark.parametrize("wrong", ["two inputs", "damaged"])
def test_a_module_of_another_kind_is_told_in_a_line(command, tmp_path, capsys, wrong):
    class Pair(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec([None], tf.string)] * 2)
        def serve(self, first, second):
            return {"outputs": tf.strings.length(first) + tf.strings.length(second)}

    made, folder = Pair(), tmp_path / "module"
    tf.saved_model.save(made, str(folder), signatures={"serving_default": made.serve})
    if wrong == "damaged":
        (folder / "saved_model.pb").write_bytes(b"\xff" * 40)
    options = ("--rows", "sif_perceptron", "--module", folder, "--jobs", 1)
    assert main(command("run", tmp_path / "run", *options)) == 1
    said = capsys.readouterr().err
    assert said.startswith(f"error: {folder}: ")
    assert said.count("\n") == 1


def test_word_vectors_of_a_module_become_a_file(corpora, tmp_path):
    class Lengths(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
        def vectors(self, inputs):
            lengths = tf.cast(tf.strings.length(inputs), tf.float32)
            return {"outputs": tf.stack([lengths, 1 / lengths], axis=1)}

    made, folder, file = Lengths(), tmp_path / "module", tmp_path / "vectors.txt"
    tf.saved_model.save(made, str(folder), signatures={"word_vectors": made.vectors})
    line = ["vectors", "--data", corpora, "--module", folder, "--output", file]
    assert main([str(part) for part in line]) == 0
    written = dict(line.split(" ", 1) for line in file.read_text().splitlines())
    assert written["cats"] == "4 0.25"
    found = vectors.load(file, ["cats", "never"], unknown_as="zero")
    assert found.dim == 2

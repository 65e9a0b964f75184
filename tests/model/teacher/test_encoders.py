"""Teachers: SavedModels, and models of sentence-transformers where it is installed."""

import sys
import types

import numpy as np
import pytest
import tensorflow as tf

from model.errors import InputError
from model.fingerprint import fingerprint
from model.teacher import encoders

ROWS = {"one": [3.0, 4.0], "two": [0.0, -2.0], "zero": [0.0, 0.0]}


class Module(tf.Module):
    """Text -> its number of bytes, and 1."""

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
    def serve(self, inputs):
        lengths = tf.cast(tf.strings.length(inputs), tf.float32)
        return {"outputs": tf.stack([lengths, tf.ones_like(lengths)], axis=1)}


@pytest.fixture
def sentence_transformers(monkeypatch):
    """A stand-in for the package, with one model."""

    class SentenceTransformer:
        def __init__(self, name):
            if name != "known":
                raise OSError(f"{name} is not known\nat all")

        def state_dict(self):
            weights = types.SimpleNamespace(numpy=lambda: np.ones(2, np.float32))
            return {"weights": types.SimpleNamespace(cpu=lambda: weights)}

        def encode(self, texts, *, batch_size, convert_to_numpy, show_progress_bar):
            assert convert_to_numpy
            assert not show_progress_bar
            assert batch_size == len(texts)
            if "long" in texts:
                raise RuntimeError("out of memory\nat all")
            return np.array([ROWS[text] for text in texts], np.float32)

    package = types.ModuleType("sentence_transformers")
    package.SentenceTransformer = SentenceTransformer
    monkeypatch.setitem(sys.modules, "sentence_transformers", package)


def test_a_teacher_may_be_given_a_name(sentence_transformers):
    assert encoders.load("known").name == "known"
    named = encoders.load("MiniLM=known")
    assert named.name == "MiniLM"
    assert named.fingerprint == encoders.load("known").fingerprint


def test_a_saved_model_is_a_teacher(tmp_path):
    module = Module()
    tf.saved_model.save(module, str(tmp_path / "module"), signatures=module.serve)
    teacher = encoders.load(str(tmp_path / "module"))
    rows = teacher.embed(["abc", "é"])
    np.testing.assert_allclose(rows, [[3 / 10**0.5, 1 / 10**0.5], [2 / 5**0.5, 1 / 5**0.5]])
    assert rows.dtype == np.float32
    assert teacher.fingerprint == fingerprint(tmp_path / "module")


@pytest.mark.parametrize(
    ("outputs", "said"),
    [
        (
            lambda rows: {"attention": rows, "embedding": rows},
            "serving_default gives attention, embedding; accepted: one output, or one of several ",
        ),
        (lambda rows: {"rows": rows[:, 0]}, "gives float32 [2] for 2 texts; accepted: floats [te"),
        (lambda rows: {"rows": rows[:, None]}, "gives float32 [2, 1, 2] for 2 texts; accepted"),
        (lambda rows: {"rows": rows[:1]}, "gives float32 [1, 2] for 2 texts; accepted"),
        (lambda rows: {"rows": tf.strings.as_string(rows)}, "gives string [2, 2] for 2 texts; ac"),
    ],
)
def test_outputs_that_are_no_embeddings_are_refused(tmp_path, outputs, said):
    class Other(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
        def serve(self, inputs):
            return outputs(Module().serve(inputs)["outputs"])

    module = Other()
    tf.saved_model.save(module, str(tmp_path / "module"), signatures=module.serve)
    with pytest.raises(InputError) as raised:
        encoders.load(str(tmp_path / "module")).embed(["abc", "é"])
    assert said in str(raised.value)


def test_a_model_of_sentence_transformers_is_one(sentence_transformers):
    teacher = encoders.load("known")
    np.testing.assert_allclose(teacher.embed(["two", "one"]), [[0, -1], [0.6, 0.8]])
    assert teacher.name == "known"
    assert len(teacher.fingerprint) == 64


def test_an_embedding_without_a_direction_is_refused(sentence_transformers):
    with pytest.raises(InputError, match=r"^--encoder: 'known': no embedding .* for 'zero'$"):
        encoders.load("known").embed(["one", "zero"])


def test_an_encoder_that_fails_says_on_what(sentence_transformers):
    with pytest.raises(InputError, match=r"'known' fails on 2 texts from 'one' on: out of memory$"):
        encoders.load("known").embed(["one", "long"])


def test_an_unknown_name_is_refused_in_a_line(sentence_transformers):
    with pytest.raises(
        InputError, match=r"^--encoder: 'other' is not a .* it: other is not known$"
    ):
        encoders.load("other")


def test_without_sentence_transformers_a_name_is_refused(monkeypatch):
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(InputError, match=r"^--encoder: 'any' is not a folder .* is not installed"):
        encoders.load("any")


def test_a_module_without_a_fingerprint_is_told_by_its_files(tmp_path):
    (tmp_path / "variables").mkdir()
    (tmp_path / "saved_model.pb").write_bytes(b"graph")
    weights = tmp_path / "variables" / "variables.index"
    weights.write_bytes(b"weights")
    before = fingerprint(tmp_path)
    assert fingerprint(tmp_path) == before
    (tmp_path / "fingerprint.pb").write_bytes(b"\xff")  # damaged
    assert fingerprint(tmp_path) == before
    weights.write_bytes(b"others")
    assert fingerprint(tmp_path) != before

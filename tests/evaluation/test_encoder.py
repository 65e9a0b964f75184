import hashlib
import shutil

import numpy as np
import pytest
import tensorflow as tf

from evaluation import encoder as encoder_module
from evaluation.encoder import Encoder, fingerprint
from evaluation.errors import InputError

STRINGS = [tf.TensorSpec([None], tf.string)]


class Lengths(tf.Module):
    """Any team's module: [1, length in bytes] for each text."""

    @tf.function(input_signature=STRINGS)
    def __call__(self, texts):
        lengths = tf.cast(tf.strings.length(texts), tf.float32)
        return tf.stack([tf.ones_like(lengths), lengths], axis=1)


class SignatureOnly(tf.Module):
    """No callable root, an input name of its own, and two sides."""

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name="texts")])
    def left(self, texts):
        return {"outputs": tf.fill([tf.size(texts), 3], 1.0), "tokens": tf.size(texts)}

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name="inputs")])
    def right(self, inputs):
        return {"outputs": tf.fill([tf.size(inputs), 3], 2.0)}


class Faulty(tf.Module):
    """Goes wrong in the way that the text names."""

    @tf.function(input_signature=STRINGS)
    def __call__(self, texts):
        nan = tf.equal(texts, "nan")
        zero = tf.equal(texts, "zero")
        fails = tf.reduce_any(tf.equal(texts, "crash"))
        with tf.control_dependencies([tf.debugging.Assert(~fails, ["a crash"])]):
            values = tf.where(nan, float("nan"), tf.where(zero, 0.0, 1.0))
        short = tf.reduce_any(tf.equal(texts, "drops a row"))
        return tf.stack([values, values], axis=1)[tf.cast(short, tf.int32) :]


class Wrong(tf.Module):
    """A table of signatures and shapes nobody can use."""

    @tf.function(input_signature=STRINGS)
    def integers(self, texts):
        return {"outputs": tf.strings.length(texts)[:, None]}

    @tf.function(input_signature=STRINGS)
    def flat(self, texts):
        return {"outputs": tf.cast(tf.strings.length(texts), tf.float32)}

    @tf.function(input_signature=STRINGS)
    def two(self, texts):
        return {"a": tf.zeros([1, 1]), "b": tf.zeros([1, 1])}


@pytest.fixture(scope="module")
def save(tmp_path_factory):
    def save_module(module, **signatures):
        path = tmp_path_factory.mktemp("module")
        tf.saved_model.save(module, str(path), signatures=signatures or None)
        return path

    return save_module


@pytest.fixture(scope="module")
def lengths(save):
    return save(Lengths())


@pytest.fixture(scope="module")
def faulty(save):
    return Encoder(save(Faulty()))


def test_foreign_module_keeps_order_and_repeats(lengths):
    rows = Encoder(lengths).encode(["four", "a", "", "four", "caf\u00e9"])
    assert rows.dtype == np.float32
    assert rows.tolist() == [[1, 4], [1, 1], [1, 0], [1, 4], [1, 5]]


def test_both_sides_are_one_without_a_response_signature(lengths):
    encoder = Encoder(lengths)
    assert encoder.encode_responses(["abc", "d"]).tolist() == [[1, 3], [1, 1]]


def test_module_with_signatures_alone(save):
    module = SignatureOnly()
    one_side = Encoder(save(module, serving_default=module.left))
    assert one_side.encode(["a", "b"]).tolist() == [[1, 1, 1], [1, 1, 1]]
    assert one_side.encode_responses(["a"]).tolist() == [[1, 1, 1]]
    both = Encoder(save(module, serving_default=module.left, encode_response=module.right))
    assert both.encode(["a"]).tolist() == [[1, 1, 1]]
    assert both.encode_responses(["a"]).tolist() == [[2, 2, 2]]


def test_encodes_each_text_once_in_length_sorted_chunks(lengths, monkeypatch):
    monkeypatch.setattr(encoder_module, "CHUNK", 3)
    encoder, seen = Encoder(lengths), []

    def spy(texts, encode=encoder._encode):
        seen.append([text.decode() for text in texts.numpy()])
        return encode(texts)

    encoder._encode = spy
    texts = ["ccccc", "a", "dd", "a", "bbbb", "dd", "eee"]
    assert encoder.encode(texts)[:, 1].tolist() == [len(text) for text in texts]
    assert seen == [["a", "dd", "eee"], ["bbbb", "ccccc"]]


def test_progress_goes_to_stderr(lengths, capsys):
    Encoder(lengths).encode(["a", "b"])
    captured = capsys.readouterr()
    assert "encoding" in captured.err
    assert captured.out == ""


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("nan", "a NaN or infinite value for the sentence 'nan'"),
        ("zero", "an all-zero row for the sentence 'zero'"),
        ("crash", "fails on the sentence 'crash'"),
        ("drops a row", r"gives shape \[2, 2\] for 3 sentences"),
    ],
)
def test_bad_rows_name_the_sentence(faulty, text, named):
    assert faulty.encode(["fine", "good"]).tolist() == [[1, 1], [1, 1]]
    with pytest.raises(InputError, match=named):
        faulty.encode(["fine", text, "good"])


@pytest.mark.parametrize(
    ("signature", "named"),
    [
        ("integers", "gives int32 for 'a'"),
        ("flat", r"gives shape \[1\] for 1 sentences"),
        ("two", "one output or one named outputs"),
    ],
)
def test_unusable_signatures(save, signature, named):
    module = Wrong()
    path = save(module, serving_default=getattr(module, signature))
    with pytest.raises(InputError, match=named):
        Encoder(path).encode(["a"])


def test_unloadable_folders(save, tmp_path):
    with pytest.raises(InputError, match="no SavedModel here"):
        Encoder(tmp_path)
    (tmp_path / "saved_model.pb").write_bytes(b"not a protocol buffer")
    with pytest.raises(InputError, match="cannot be loaded"):
        Encoder(tmp_path)
    with pytest.raises(InputError, match="neither a callable root nor"):
        Encoder(save(tf.Module()))
    with pytest.raises(ValueError, match="at least one"):
        Encoder(save(Lengths())).encode([])


def test_fingerprint_is_the_modules_own(lengths, faulty, tmp_path):
    found = fingerprint(lengths)
    copy = shutil.copytree(lengths, tmp_path / "copy")
    assert int(found, 16) > 0
    assert fingerprint(copy) == found
    assert fingerprint(faulty.path) != found
    (copy / "fingerprint.pb").unlink()
    expected = hashlib.sha256((copy / "saved_model.pb").read_bytes()).hexdigest()
    assert fingerprint(copy) == expected
    provenance = Encoder(lengths).provenance()
    assert provenance == {"path": str(lengths), "fingerprint": found}

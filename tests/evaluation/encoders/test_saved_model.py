import shutil
import threading
from functools import partial
from http.server import HTTPServer, SimpleHTTPRequestHandler
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf

from common.encoders.saved_model import fingerprint
from common.errors import InputError
from evaluation.encoders import load_encoder
from evaluation.encoders.saved_model import Encoder

STRINGS = [tf.TensorSpec([None], tf.string)]


def length(texts):
    return tf.cast(tf.strings.length(texts), tf.float32)


def both(texts):
    """Any team's module: [1, length in bytes] for each text."""
    return tf.stack([tf.ones_like(length(texts)), length(texts)], axis=1)


def left(texts):
    return {"outputs": tf.fill([tf.size(texts), 3], 1.0), "tokens": tf.size(texts)}


def right(inputs):
    return {"outputs": tf.fill([tf.size(inputs), 3], 2.0)}


def fails(texts):
    """Goes wrong in the way that the text names."""
    crashes = tf.reduce_any(tf.equal(texts, "crash"))
    with tf.control_dependencies([tf.debugging.Assert(~crashes, ["a crash"])]):
        values = tf.where(tf.equal(texts, "zero"), 0.0, 1.0)
    short = tf.reduce_any(tf.equal(texts, "drops a row"))
    return tf.stack([values, values], axis=1)[tf.cast(short, tf.int32) :]


def in_context(inputs, context):
    return {"outputs": tf.stack([length(inputs), length(context)], axis=1)}


class Weighted(tf.Module):
    """Has a weight and a file."""

    def __init__(self, file):
        self.weight = tf.Variable(1.0)
        self.asset = tf.saved_model.Asset(file)

    @tf.function(input_signature=STRINGS)
    def __call__(self, texts):
        return tf.cast(tf.strings.length(texts), tf.float32)[:, None] * self.weight


@pytest.fixture(scope="module")
def lengths(save):
    return save(both)


@pytest.fixture(scope="module")
def faulty(save):
    return Encoder(save(fails))


def test_inputs_in_their_context(save):
    encoder = Encoder(save(both, encode_input_in_context=in_context))
    assert encoder.reads_context
    rows = encoder.encode_inputs_in_context(["ab", "c"] * 200, ["", "defg"] * 200)
    np.testing.assert_array_equal(rows, [[2, 0], [1, 4]] * 200)


def test_foreign_module_keeps_order_and_repeats(lengths, save):
    encoder = Encoder(lengths)
    rows = encoder.encode(["four", "a", "", "four", "caf\u00e9"])
    assert rows.dtype == np.float32
    assert encoder.encode_responses(["abc", "d"]).tolist() == [[1, 3], [1, 1]]
    assert rows.tolist() == [[1, 4], [1, 1], [1, 0], [1, 4], [1, 5]]
    # A signature comes before the root.
    assert Encoder(save(both, serving_default=right)).encode(["a"]).tolist() == [[2, 2, 2]]


@pytest.mark.parametrize(
    ("names", "rows"),
    [([], (1, 1, 1)), (["encode_response"], (1, 1, 2)), (["encode_input"], (1, 2, 1))],
)
def test_signatures_encode_inputs_and_responses(save, names, rows):
    encoder = Encoder(save(serving_default=left, **dict.fromkeys(names, right)))
    found = (encoder.encode(["a"]), encoder.encode_inputs(["a"]), encoder.encode_responses(["a"]))
    assert tuple(int(each[0, 0]) for each in found) == rows


def test_word_vectors_may_be_zero(save, lengths):
    def table(inputs):
        return {"outputs": tf.stack([length(inputs), 2 * length(inputs)], axis=1)}

    words = Encoder(save(both, word_vectors=table))
    assert words.word_vectors(["abc", ""]).tolist() == [[3, 6], [0, 0]]
    with pytest.raises(InputError, match="word_vectors"):
        Encoder(lengths).word_vectors(["a"])


@pytest.mark.parametrize("text", ["zero", "crash", "drops a row"])
def test_bad_rows_name_the_sentence(faulty, text):
    assert faulty.encode(["fine", "good"]).tolist() == [[1, 1], [1, 1]]
    with pytest.raises(InputError, match=f"'{text}'"):
        faulty.encode([f"before {text}", text, f"after {text}"])  # none of them encoded before


def test_a_url_is_fetched_by_tensorflow_hub(lengths, tmp_path, monkeypatch):
    """From a server of its own, packed as tensorflow-hub's protocol wants it."""
    monkeypatch.setenv("TFHUB_CACHE_DIR", str(tmp_path / "cache"))
    packed = Path(shutil.make_archive(str(tmp_path / "module"), "gztar", lengths))
    (tmp_path / "lengths").mkdir()
    packed.rename(tmp_path / "lengths" / "1")
    serves = partial(SimpleHTTPRequestHandler, directory=str(tmp_path))
    with HTTPServer(("127.0.0.1", 0), serves) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}"
        encoder = Encoder(f"{url}/lengths/1")
        assert encoder.encode(["abc"]).tolist() == [[1, 3]]
        found = {"path": f"{url}/lengths/1", "fingerprint": fingerprint(lengths)}
        assert encoder.provenance() == found
        with pytest.raises(InputError, match=f"{url}/nothing/1"):
            Encoder(f"{url}/nothing/1")
        server.shutdown()


def test_unloadable_folders_and_unusable_signatures(save, tmp_path):
    for write in (False, True):
        if write:
            (tmp_path / "saved_model.pb").write_bytes(b"not a protocol buffer")
        with pytest.raises(InputError, match=str(tmp_path)):
            Encoder(tmp_path)
    with pytest.raises(InputError, match="serving_default"):
        Encoder(save(tf.Module()))
    for signature in (
        lambda texts: {"a": length(texts)},
        lambda texts: {"a": both(texts), "b": texts},
    ):
        path = save(serving_default=signature)
        with pytest.raises(InputError, match=str(path)):
            Encoder(path).encode(["a"])


def test_fingerprint_is_the_modules_own(lengths, faulty, tmp_path):
    found = fingerprint(lengths)
    assert int(found, 16) > 0
    copy = shutil.copytree(lengths, tmp_path / "copy")
    encoder = Encoder(copy)
    shutil.copytree(faulty.path, copy, dirs_exist_ok=True)
    assert fingerprint(copy) != found
    provenance = encoder.provenance() | {"path": str(lengths)}
    assert provenance == {"path": str(lengths), "fingerprint": found}  # what was loaded
    theirs = load_encoder(lengths, pretrained=True).provenance()
    assert theirs == provenance | {"pretrained": True}


def test_the_fingerprint_changes_with_any_file_of_a_module(save, tmp_path):
    (tmp_path / "words").write_text("a\nb\n")
    module = save(Weighted(str(tmp_path / "words")))
    before = fingerprint(module)
    (module / "assets" / "words").write_text("b\na\n")
    # The rest, which names the weights, stays.
    assert fingerprint(module) != before
    assert fingerprint(module)[-80:] == before[-80:]
    (module / "fingerprint.pb").unlink()  # as of an older TensorFlow
    found = [fingerprint(shutil.copytree(module, tmp_path / "copy")), fingerprint(module)]
    (variables,) = module.glob("variables/variables.data-*")
    for part in (module / "saved_model.pb", variables, module / "assets" / "words"):
        part.write_bytes(part.read_bytes()[:-1] + b"?")
        found.append(fingerprint(module))
    assert found[0] == found[1]
    assert len(set(found)) == 4

"""What an export changes: weights in fewer bits; embeddings without components, by a matrix."""

import shutil

import numpy as np
import pytest
import tensorflow as tf
import tf_keras

from common.errors import InputError
from export.__main__ import main
from export.card import identity
from export.module import components
from export.module.hub_module import HubModule
from export.module.weights import Kept, Narrow
from export.saved_model import write
from model.checkpoints.trained import load
from tests.export.conftest import BOTH, RECURRENT, TRANSFORMER

SENTENCES = ["two words", "", "word " * 100, "some other words of this"]
ENCODERS = [None, *(pytest.param(one, marks=pytest.mark.slow) for one in (TRANSFORMER, RECURRENT))]


def test_eight_bits_are_integers_times_a_scale_a_row():
    table = tf.Variable([[0.0, 0.0], [1.27, -0.5], [254.0, 3.0]])
    kept = Narrow(table, tf.int8)
    assert [variable.dtype for variable in kept.variables] == [tf.int8, tf.float32]
    np.testing.assert_array_equal(kept.variables[0], [[0, 0], [127, -50], [127, 2]])
    np.testing.assert_allclose(kept.rows(tf.constant([2, 0, 1])), [[254, 4], [0, 0], [1.27, -0.5]])


def test_sixteen_bits_are_widened_to_be_used():
    kept = Narrow(tf.Variable([1.0, 1 + 2.0**-9]), tf.bfloat16)
    np.testing.assert_array_equal(kept.whole(), [1.0, 1.0])
    assert kept.whole().dtype == tf.float32


@pytest.mark.slow
@pytest.mark.parametrize("encoder", ENCODERS)
def test_variants_say_nearly_the_same(write_model_dir, encoder):
    # A sequence encoder takes seconds for each signature of a further head.
    looks_at_words = {"max_units": 5, "members": 2}
    heads = {"heads": BOTH, "nli": looks_at_words} if encoder is None else {}
    model, text = load(write_model_dir(encoder=encoder, **heads))
    before = [weight.numpy() for weight in model.variables]
    whole = HubModule(model, text)
    sentences = tf.constant(SENTENCES)
    for variant, dtype in (("float16", tf.float16), ("bfloat16", tf.bfloat16), ("int8", tf.int8)):
        module = HubModule(model, text, variant=variant)
        assert dtype in {weight.dtype for weight in module.variables}
        names = [weight.name for weight in module.variables]
        assert {weight.name for weight in whole.variables} <= set(names)
        assert len(set(names)) == len(names)
        for name, head in whole.heads.items():
            if name in ("serving_default", "encode_response", "word_vectors", "classify_nli"):
                sides = [sentences, sentences[::-1]][: len(head.input_signature)]
                wanted, found = head(*sides)["outputs"], module.heads[name](*sides)["outputs"]
                np.testing.assert_allclose(found, wanted, atol=0.06)
                assert np.abs(found - wanted).max() > 1e-7  # it is another module
        trained(module)
    for old, weight in zip(before, model.variables, strict=True):
        np.testing.assert_array_equal(old, weight)


def trained(module):
    """A gradient reaches what can be trained; 8 bits cannot."""
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(module(tf.constant(SENTENCES), training=True)[:, 0])
    gradients = tape.gradient(loss, list(module.trainable_variables))
    assert gradients
    assert all(gradient is not None for gradient in gradients)
    assert tf.int8 not in {weight.dtype for weight in module.trainable_variables}


def bytes_of_tables(module):
    """Of the rows of words and bigrams, their scales included."""
    tables = [weight for weight in module.variables if weight.shape[:1] in ([300], [400])]
    return sum(weight.dtype.size * weight.shape.num_elements() for weight in tables)


def test_a_weight_that_is_no_attribute_is_named():
    class Listed(tf_keras.layers.Layer):
        def build(self, input_shape):
            self.listed = [self.add_weight("listed", [2, 2])]

        def call(self, inputs):
            return tf.matmul(inputs, self.listed[0])

    layer = Listed(name="mine")
    layer(tf.ones([1, 2]))
    with pytest.raises(InputError, match="the weights mine/listed:0 are in no attribute of"):
        Kept(layer, "float16")(tf.ones([1, 2]))


VECTORS = {
    b"a": [1.0, 0.0, 0.0],
    b"b": [0.8, 0.6, 0.0],
    b"c": [0.8, -0.6, 0.0],
    b"d": [0.0, 0.0, 1.0],
}


def encode(sentences):
    return tf.constant([VECTORS[sentence] for sentence in sentences.numpy()])


def learn(path, lines, count):
    path.write_text("\n".join(lines))
    return components.learn(encode, [str(path)], count=count, dim=3)


def test_the_first_components_are_those_of_the_second_moment(tmp_path):
    """The sum of v v' is diag(1 + 4 * 0.64, 4 * 0.36, 1)."""
    texts = tmp_path / "texts.txt"
    found, about = learn(texts, ["a", "", *"bcbcd"], 2)
    np.testing.assert_allclose(np.abs(found), [[1, 0], [0, 1], [0, 0]], atol=1e-6)
    assert about == {"count": 2, "texts": 6, "files": [str(texts)]}


@pytest.mark.parametrize(("lines", "count"), [("abcd", 3), ("ab", 2), ("ab" * 9, 2)])
def test_too_few_texts_that_differ_are_named(tmp_path, lines, count):
    with pytest.raises(InputError, match=r"--remove_components|--component_texts"):
        learn(tmp_path / "texts.txt", lines, count)
    for alone in ({"remove_components": count}, {"component_texts": ["texts.txt"]}):
        with pytest.raises(InputError, match=f"--{next(iter(alone))}: "):
            write.export(tmp_path, tmp_path / "module", **alone)


@pytest.mark.slow
def test_components_and_matrix_change_embeddings_alone(shared):
    model, text = load(shared / "run")
    sentences = tf.constant(["a b c", "", "d"])
    u = model.encode_inputs(text(sentences)).numpy()
    direction = np.eye(7, 1, dtype=np.float32)
    matrix = np.random.default_rng(0).normal(size=(7, 7)).astype(np.float32)
    plain = HubModule(model, text)
    removed, tuned = {"components": direction}, {"sts_matrix": matrix}
    for given in (removed, tuned, removed | tuned):
        module = HubModule(model, text, **given)
        # The matrix was learned of embeddings without the component.
        rows = u * (np.arange(7) > 0) if "components" in given else u
        rows = rows @ matrix if "sts_matrix" in given else rows
        rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        np.testing.assert_allclose(module(sentences), rows, atol=1e-5)
        of = {name: head for name, head in module.heads.items() if name != "word_vectors"}
        np.testing.assert_allclose(of.pop("serving_default")(sentences)["outputs"], rows, atol=1e-5)
        found = of.pop("similarity")(sentences, sentences[::-1])["angular"]
        cosines = np.clip((rows * rows[::-1]).sum(axis=1), -1, 1)
        np.testing.assert_allclose(found, 1 - np.arccos(cosines) / np.pi, atol=1e-3)
        # What is trained for a task stays.
        for name, head in of.items():
            sides = [sentences[:1] if name == "rank_responses" else sentences, sentences]
            sides = sides[: len(head.input_signature)]
            for output, value in plain.heads[name](*sides).items():
                np.testing.assert_allclose(head(*sides)[output], value, atol=1e-6)
        trainable = [id(weight) for weight in module.trainable_variables]
        assert (id(module.sts_matrix) in trainable) == ("sts_matrix" in given)
        assert id(module.components) not in trainable


@pytest.mark.usefixtures("verified_here")
@pytest.mark.slow
def test_the_command_applies_all_replaces_a_module_whole_and_the_card_says_so(
    shared, tmp_path, capsys
):
    output = shutil.copytree(shared / "module", tmp_path / "module")
    (output / "left over").write_text("of the old module")
    (tmp_path / "latest").symlink_to("module")
    texts = tmp_path / "texts.txt"
    texts.write_text("".join(f"some words {n}\n" for n in range(20)))
    learned_on = '{"module": {"path": "runs/other", "fingerprint": "abc"}}'
    np.savez(tmp_path / "m.npz", matrix=np.eye(7), about=np.array(learned_on))
    asked = ["--model_dir", str(shared / "run"), "--output", str(tmp_path / "latest")]
    asked += ["--remove_components", "1", "--component_texts", str(texts), "--variant", "int8"]
    main([*asked, "--with_sts_matrix", str(tmp_path / "m.npz")])
    assert "learned on runs/other (fingerprint abc)" in capsys.readouterr().out
    assert (tmp_path / "latest").is_symlink()
    assert not (output / "left over").exists()
    assert {path.name for path in tmp_path.iterdir()} == {"module", "latest", "texts.txt", "m.npz"}
    about = identity.read(output)
    assert about["components"] == {"count": 1, "texts": 20, "files": [str(texts)]}
    card = (output / "README.md").read_text()
    assert "1 principal component of the embeddings of 20 texts" in card
    assert "runs/other" in card
    assert "int8 tables; other weights are float32" in card
    module, whole = (tf.saved_model.load(str(path)) for path in (output, shared / "module"))
    sentences = tf.constant(SENTENCES)
    plain = module.signatures["encode_input"](sentences)["outputs"]
    np.testing.assert_allclose(plain, whole(sentences), atol=0.02)
    assert np.abs(module(sentences) - plain).max() > 0.02
    assert bytes_of_tables(module) == 700 * (6 + 4)
    assert bytes_of_tables(whole) == 700 * 6 * 4

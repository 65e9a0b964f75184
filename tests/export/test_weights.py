"""Weights in fewer bits: what they may change, and what they save."""

import math

import numpy as np
import pytest
import tensorflow as tf
import tf_keras

from common.errors import InputError
from export.__main__ import main
from export.module.hub_module import HubModule
from export.module.weights import Kept, Narrow
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
    heads = {"heads": BOTH} if encoder is None else {}
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
            if name in ("serving_default", "encode_response", "word_vectors"):
                wanted, found = head(sentences)["outputs"], module.heads[name](sentences)["outputs"]
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
    """Of the rows of words and bigrams in a module's folder, their scales included."""
    reader = tf.train.load_checkpoint(str(module / "variables" / "variables"))
    kinds, shapes = reader.get_variable_to_dtype_map(), reader.get_variable_to_shape_map()
    names = [name for name, shape in shapes.items() if shape[:1] in ([300], [400])]
    return sum(kinds[name].size * math.prod(shapes[name]) for name in names)


@pytest.mark.slow
@pytest.mark.usefixtures("verified_here")
def test_a_variant_is_saved_as_it_is(shared, tmp_path):
    main(f"--model_dir {shared}/run --variant int8 --output {tmp_path}/int8".split())
    module = tf.saved_model.load(str(tmp_path / "int8"))
    whole = tf.saved_model.load(str(shared / "module"))
    sentences = tf.constant(SENTENCES)
    np.testing.assert_allclose(module(sentences), whole(sentences), atol=0.02)
    assert bytes_of_tables(tmp_path / "int8") == 700 * (6 + 4)
    assert bytes_of_tables(shared / "module") == 700 * 6 * 4
    assert "int8 tables; other weights are float32" in (tmp_path / "int8" / "README.md").read_text()


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

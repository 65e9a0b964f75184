"""What all encoders promise, and the arithmetic of the plain ones by hand."""

import numpy as np
import pytest
import tensorflow as tf

from model.configs import schema
from model.layers import encoders
from model.layers.dan import AveragingEncoder
from model.text import WORDS
from model.text.preprocessing import TextToIds

TEXT = TextToIds(max_tokens=16, word_buckets=50, bigram_buckets=60)
SIZES = {
    "averaging": {"word_dim": 4, "hidden": [5, 6], "embedding_dim": 7},
    "transformer": {"layers": 2, "heads": 2, "hidden": 8, "filter": 16, "embedding_dim": 7},
    "recurrent": {"word_dim": 4, "units": 5, "embedding_dim": 7},
}


def build(kind):
    config = schema.Encoder()
    config.override({"type": kind, kind: SIZES[kind]})
    return encoders.build(config, TEXT.table_sizes)


@pytest.fixture(scope="module", params=SIZES)
def kind(request):
    return request.param


@pytest.fixture(scope="module")
def encoder(kind):
    return build(kind)


def embed(encoder, *sentences):
    return encoder(TEXT(tf.constant(sentences)))["default"].numpy()


def test_one_row_of_unit_length_for_every_sentence(encoder):
    rows = embed(encoder, "some words", "", "🎂", "word " * 100, "blue bird")
    assert rows.shape == (5, encoder.embedding_dim) == (5, 7)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, rtol=1e-5)
    assert np.abs(rows[0] - rows[[1, 4]]).max(axis=1).min() > 0.01


def test_a_row_does_not_depend_on_its_batch_mates(encoder):
    alone = embed(encoder, "two words")
    together = embed(encoder, "word " * 100, "two words", "")
    np.testing.assert_allclose(together[1:2], alone, atol=1e-6)


def test_words_are_looked_up_in_the_table(encoder):
    ids = tf.constant([[1, 2], [3, 1]])
    expected = tf.gather(encoder.tables[WORDS], ids)
    np.testing.assert_array_equal(encoder.word_vectors(ids), expected)


def test_the_embedding_is_float32_in_mixed_precision(kind, bfloat16):
    rows = embed(build(kind), "some words", "")
    assert rows.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, rtol=1e-5)


def test_replicas_do_not_copy_the_table(kind):
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    with strategy.scope():
        encoder = build(kind)
        ids = TEXT(tf.constant(["a sentence"]))

        def gradients():
            with tf.GradientTape() as tape:
                embedding = encoder(ids)["default"]
            return tape.gradient(embedding, list(encoder.tables.values()))

        traced = tf.function(lambda: strategy.run(gradients)).get_concrete_function()
    of_tables = strategy.experimental_local_results(traced.structured_outputs)[0]
    assert all(isinstance(each, tf.IndexedSlices) for each in of_tables)
    tables = [table.shape for table in encoder.tables.values()]
    operations = traced.graph.get_operations()
    read = [op.outputs[0].shape for op in operations if op.type == "ReadVariableOp"]
    in_place = "DisableCopyOnRead" in {operation.type for operation in operations}
    assert in_place or not [shape for shape in read if shape in tables]


def test_the_dan_adds_words_and_bigrams_then_projects_and_normalizes():
    sizes = {"table_sizes": {"words": 9, "bigrams": 9}, "word_dim": 2, "embedding_dim": 2}
    encoder = AveragingEncoder(**sizes, hidden=[])
    ids = {"words": tf.constant([[1, 2]]), "bigrams": tf.constant([[3, 3]])}
    encoder(ids)
    words, bigrams, kernel, bias = encoder.weights
    assert not bigrams.numpy().any()
    assert words.numpy().std() > 0.1
    words.assign(tf.tensor_scatter_nd_update(words, [[1], [2]], [[1.0, 0.0], [0.0, 1.0]]))
    bigrams.assign(tf.tensor_scatter_nd_update(bigrams, [[3]], [[1.0, 3.0]]))
    kernel.assign([[1.0, 0.0], [0.0, 1.0]])
    bias.assign([0.0, 0.0])
    # ((1, 1) + (2, 6)) / sqrt(2) is (3, 7) times a factor that normalizing takes away.
    np.testing.assert_allclose(encoder(ids)["default"], [np.array([3, 7]) / np.sqrt(58)], rtol=1e-6)

"""The encoders' arithmetic, by hand where that is possible, and their promises."""

from contextlib import nullcontext

import numpy as np
import pytest
import tensorflow as tf
import tf_keras
from tensorflow.python.eager import context

from model.configs import schema
from model.layers import embedding as lookup
from model.layers import encoders, xla
from model.layers.dan import AveragingEncoder, SqrtNEmbedding
from model.text import PADDING, WORDS
from model.text.preprocessing import TextToIds

TEXT = TextToIds(max_tokens=16, word_buckets=50, bigram_buckets=60)
AVERAGING = schema.Encoder(
    type="averaging", averaging=schema.Averaging(word_dim=4, hidden=[5, 6], embedding_dim=7)
)
TRANSFORMER = schema.Encoder(
    type="transformer",
    transformer=schema.Transformer(layers=2, heads=2, hidden=8, filter=16, embedding_dim=7),
)
RECURRENT = schema.Encoder(
    type="recurrent", recurrent=schema.Recurrent(word_dim=4, units=5, embedding_dim=7)
)
ALL = pytest.mark.parametrize("config", [AVERAGING, TRANSFORMER, RECURRENT], ids=lambda c: c.type)


def embed(encoder, *sentences, training=False):
    ids = TEXT(tf.constant(sentences))
    return encoder(ids, training=training)["default"].numpy()


def test_the_sum_of_vectors_divided_by_the_root_of_their_number():
    layer = SqrtNEmbedding(3, 2)
    layer.build(None)
    layer.table.assign([[9, 9], [1, 2], [3, 4]])
    # (1, 2) + (3, 4) + (3, 4) = (7, 10), over sqrt(3); and (1, 2) over sqrt(1).
    expected = np.array([[7, 10], [np.sqrt(3), 2 * np.sqrt(3)]]) / np.sqrt(3)
    ids = tf.constant([[1, 2, 2], [1, 0, 0]])
    np.testing.assert_allclose(layer(ids, tf.where(ids != 0)), expected, rtol=1e-6)


def summed(table, ids):
    ids = tf.constant(ids)
    return lookup.sqrt_n_sums(table, ids, tf.where(ids != PADDING))


@pytest.mark.parametrize("is_far", [False, True])
def test_sums_and_their_gradient_wherever_the_table_is(monkeypatch, is_far):
    if is_far:  # as on a parameter server
        monkeypatch.setattr(lookup, "_in_place", lambda table: None)
    table = tf.Variable([[9.0, 9.0], [1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        sums = summed(table, [[1, 2, 2], [1, 0, 0]])
        total = tf.reduce_sum(sums)
    np.testing.assert_allclose(sums, [np.array([7, 10]) / np.sqrt(3), [1, 2]], rtol=1e-6)
    gradient = tape.gradient(total, table)
    assert isinstance(gradient, tf.IndexedSlices)
    assert sorted(gradient.indices.numpy()) == [1, 2]
    # Row 1 stands once among three and once alone, row 2 twice among three.
    expected = [[0, 0], [1 / np.sqrt(3) + 1] * 2, [2 / np.sqrt(3)] * 2]
    np.testing.assert_allclose(tf.convert_to_tensor(gradient), expected, rtol=1e-6)


@pytest.mark.parametrize("ids", [[[1, 2, 2], [1, 0, 0], [2, 0, 0]], [[2, 1]]], ids=["3", "1"])
def test_two_halves_of_the_rows_come_to_the_same(ids):
    table = tf.Variable([[9.0, 9.0], [1.0, 2.0], [3.0, 4.0]])
    ids = tf.constant(ids)
    places = tf.where(ids != PADDING)
    with tf.GradientTape(persistent=True) as tape:
        whole = lookup.sqrt_n_sums(table, ids, places)
        halves = lookup.sqrt_n_sums(table, ids, places, in_halves=True)
    np.testing.assert_array_equal(halves, whole)
    expected, found = (tf.convert_to_tensor(tape.gradient(one, table)) for one in (whole, halves))
    np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize("is_far", [False, True])
def test_a_table_that_is_summed_is_not_gathered_from_too(monkeypatch, is_far):
    if is_far:
        monkeypatch.setattr(lookup, "_in_place", lambda table: None)
    table = tf.Variable([[9.0, 9.0], [1.0, 2.0], [3.0, 4.0]])

    @tf.function
    def gradient():
        with tf.GradientTape() as tape:
            sums = summed(table, [[1], [2]])
            found = lookup.vectors(table, tf.constant([2, 2]))
            total = tf.reduce_sum(sums) + tf.reduce_sum(found)
        return tape.gradient(total, table)

    found = gradient()
    assert isinstance(found, tf.IndexedSlices)
    np.testing.assert_allclose(tf.convert_to_tensor(found), [[0, 0], [1, 1], [3, 3]])
    operations = {each.type for each in gradient.get_concrete_function().graph.get_operations()}
    assert ("ResourceGather" in operations) == is_far


@pytest.mark.parametrize("way", [xla.NORMAL, xla.DENSE, xla.BOTH])
@pytest.mark.parametrize("compiles", [False, True])
def test_sums_and_their_gradient_are_the_same_each_way(way, compiles):
    if compiles and way == xla.NORMAL:
        way = None  # as in training: nobody says that it will be compiled
    table = tf.Variable([[9.0, 9.0], [1.0, 2.0], [3.0, 4.0]])

    @tf.function(jit_compile=compiles)
    def sums_and_gradient():
        with xla.traced(way) if way else nullcontext(), tf.GradientTape() as tape:
            sums = summed(table, [[1, 2, 2], [1, 0, 0]])
            found = lookup.vectors(table, tf.constant([2]))
            total = tf.reduce_sum(sums) + tf.reduce_sum(found)
        return sums, tf.convert_to_tensor(tape.gradient(total, table))

    sums, gradient = sums_and_gradient()
    np.testing.assert_allclose(sums, [np.array([7, 10]) / np.sqrt(3), [1, 2]], rtol=1e-6)
    expected = [[0, 0], [1 / np.sqrt(3) + 1] * 2, [2 / np.sqrt(3) + 1] * 2]
    np.testing.assert_allclose(gradient, expected, rtol=1e-6)


def test_a_graph_of_both_ways_still_reads_the_table_in_place():
    table = tf.Variable([[9.0, 9.0], [1.0, 2.0]])

    @tf.function
    def sums():
        with xla.traced(xla.BOTH):
            return summed(table, [[1, 1]])

    context.context().enable_graph_collection()
    try:
        sums()
        graphs = context.context().export_run_metadata().function_graphs
    finally:
        context.context().disable_graph_collection()
    # What runs, after TensorFlow's optimizers.
    run = [node.op for each in graphs for part in each.partition_graphs for node in part.node]
    assert "DisableCopyOnRead" in run


@pytest.mark.parametrize(
    "config",
    [
        AVERAGING,
        pytest.param(TRANSFORMER, marks=pytest.mark.slow),
        pytest.param(RECURRENT, marks=pytest.mark.slow),
    ],
    ids=lambda config: config.type,
)
def test_xla_compiles_the_encoder_with_its_gradient(config):
    encoder = encoders.build(config, TEXT.table_sizes)
    ids = TEXT(tf.constant(["one", "two more words", ""]))

    def embedded_and_gradients():
        with tf.GradientTape() as tape:
            rows = encoder(ids)["default"]
            loss = tf.reduce_sum(rows[:, 0])
        gradients = tape.gradient(loss, encoder.trainable_variables)
        return rows, [tf.convert_to_tensor(gradient) for gradient in gradients]

    rows, gradients = embedded_and_gradients()
    compiled = tf.function(embedded_and_gradients, jit_compile=True)()
    np.testing.assert_allclose(compiled[0], rows, atol=1e-6)
    for one, other in zip(compiled[1], gradients, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


@ALL
def test_words_are_looked_up_in_the_table(config):
    encoder = encoders.build(config, TEXT.table_sizes)
    ids = tf.constant([[1, 2], [3, 1]])
    expected = tf.gather(encoder.tables[WORDS], ids)
    np.testing.assert_array_equal(encoder.word_vectors(ids), expected)


def test_the_dan_adds_words_and_bigrams_then_projects_and_normalizes():
    encoder = AveragingEncoder(table_sizes={"words": 9, "bigrams": 9}, word_dim=2, embedding_dim=2)
    ids = {"words": tf.constant([[1, 2]]), "bigrams": tf.constant([[3, 3]])}
    encoder(ids)
    words, bigrams, kernel, bias = encoder.weights
    words.assign(tf.tensor_scatter_nd_update(words, [[1], [2]], [[1.0, 0.0], [0.0, 1.0]]))
    bigrams.assign(tf.tensor_scatter_nd_update(bigrams, [[3]], [[1.0, 3.0]]))
    kernel.assign([[1.0, 0.0], [0.0, 1.0]])
    bias.assign([0.0, 0.0])
    # ((1, 1) + (2, 6)) / sqrt(2) is (3, 7) times a factor that normalizing takes away.
    np.testing.assert_allclose(encoder(ids)["default"], [np.array([3, 7]) / np.sqrt(58)], rtol=1e-6)


def test_the_dan_has_the_papers_layers():
    encoder = AveragingEncoder(table_sizes=TEXT.table_sizes, **schema.Averaging().as_dict())
    embed(encoder, "x")
    shapes = [tuple(weight.shape) for weight in encoder.weights]
    assert shapes[:2] == [(50, 300), (60, 300)]
    assert shapes[2::2] == [(300, 300), (300, 300), (300, 500)]


def test_bigrams_begin_at_zero_and_words_do_not():
    encoder = encoders.build(AVERAGING, TEXT.table_sizes)
    embed(encoder, "x")
    words, bigrams = encoder.weights[:2]
    assert not bigrams.numpy().any()
    assert words.numpy().std() > 0.1


def test_the_transformer_has_the_papers_layers():
    encoder = encoders.build(schema.Encoder(type="transformer"), TEXT.table_sizes)
    embed(encoder, "x")
    inner = [weight.shape for weight in encoder.weights if tuple(weight.shape) == (512, 2048)]
    queries = [weight.shape for weight in encoder.weights if weight.name.endswith("query/kernel:0")]
    assert len(inner) == 6
    assert [tuple(shape) for shape in queries] == [(512, 8, 64)] * 6
    assert tuple(encoder.weights[-2].shape) == (512, 500)


@ALL
def test_one_row_of_unit_length_for_every_sentence(config):
    encoder = encoders.build(config, TEXT.table_sizes)
    rows = embed(encoder, "some words", "", "🎂", "word " * 100)
    assert rows.shape == (4, 7)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, rtol=1e-5)


@ALL
def test_replicas_do_not_copy_the_table(config):
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    with strategy.scope():
        encoder = encoders.build(config, TEXT.table_sizes)
        ids = TEXT(tf.constant(["a sentence"]))
        encoder(ids)

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


@ALL
def test_it_says_how_wide_its_embedding_is(config):
    encoder = encoders.build(config, TEXT.table_sizes)
    assert encoder.embedding_dim == embed(encoder, "x").shape[1] == 7


@ALL
def test_the_embedding_is_float32_in_mixed_precision(config):
    tf_keras.mixed_precision.set_global_policy("mixed_bfloat16")
    try:
        encoder = encoders.build(config, TEXT.table_sizes)
        rows = embed(encoder, "some words", "")
    finally:
        tf_keras.mixed_precision.set_global_policy("float32")
    assert rows.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, rtol=1e-5)


@ALL
def test_a_row_does_not_depend_on_its_batch_mates(config):
    encoder = encoders.build(config, TEXT.table_sizes)
    alone = embed(encoder, "two words")
    together = embed(encoder, "word " * 100, "two words", "")
    np.testing.assert_allclose(together[1:2], alone, atol=1e-6)


@ALL
def test_different_sentences_have_different_rows(config):
    encoder = encoders.build(config, TEXT.table_sizes)
    rows = embed(encoder, "red fish", "blue bird", "")
    assert np.abs(rows[0] - rows[1]).max() > 0.01
    assert np.abs(rows[0] - rows[2]).max() > 0.01


def test_the_transformer_hears_the_order_of_words():
    encoder = encoders.build(TRANSFORMER, TEXT.table_sizes)
    rows = embed(encoder, "dog bites man", "man bites dog")
    assert np.abs(rows[0] - rows[1]).max() > 1e-3


def test_the_transformer_gives_its_sequence():
    encoder = encoders.build(TRANSFORMER, TEXT.table_sizes)
    ids = TEXT(tf.constant(["one two three", "one"]))
    assert encoder(ids)["sequence_output"].shape == (2, 4, 8)


def test_an_unknown_encoder_is_named():
    with pytest.raises(
        ValueError, match="type: 'lstm'; accepted: averaging, transformer, recurrent"
    ):
        encoders.build(schema.Encoder(type="lstm"), TEXT.table_sizes)

"""What all encoders promise; the plain ones, the recurrent one and sums of rows, by hand."""

import numpy as np
import pytest
import tensorflow as tf
import tf_keras

from model.configs import schema
from model.layers import embedding, encoders
from model.layers.dan import AveragingEncoder
from model.text import WORDS
from model.text.preprocessing import TextToIds

TEXT = TextToIds(max_tokens=16, word_buckets=50, bigram_buckets=60)
SIZES = {
    "averaging": {"word_dim": 4, "hidden": [5, 6], "embedding_dim": 7},
    "transformer": {"layers": 2, "heads": 2, "hidden": 8, "filter": 16, "embedding_dim": 7},
    "recurrent": {"word_dim": 4, "units": 5, "embedding_dim": 7},
}


def build(kind, **options):
    """A small encoder, with options of its section."""
    config = schema.Encoder()
    config.override({"type": kind, kind: SIZES[kind] | options})
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


TABLE = [[9.0, 9.0], [1.0, 2.0], [3.0, 4.0]]


@pytest.fixture(params=["here", "on a parameter server"])
def table(request, monkeypatch):
    if request.param != "here":
        monkeypatch.setattr(embedding, "in_place", lambda table: None)
    return tf.Variable(TABLE)


def sqrt_n(table, ids):
    return embedding.sqrt_n_sums(table, tf.constant(ids))


def test_sums_over_the_root_of_their_number_and_their_gradient(table):
    with tf.GradientTape() as tape:
        sums = sqrt_n(table, [[1, 2, 2], [1, 0, 0], [0, 0, 0]])
        total = tf.reduce_sum(sums)
    np.testing.assert_allclose(sums, [np.array([7, 10]) / np.sqrt(3), [1, 2], [0, 0]], rtol=1e-6)
    gradient = tape.gradient(total, table)
    assert isinstance(gradient, tf.IndexedSlices)
    assert set(gradient.indices.numpy()) == {1, 2}
    # Row 1 stands once among three and once alone, row 2 twice among three.
    expected = [[0, 0], [1 / np.sqrt(3) + 1] * 2, [2 / np.sqrt(3)] * 2]
    np.testing.assert_allclose(tf.convert_to_tensor(gradient), expected, rtol=1e-6)


def test_a_table_that_is_summed_is_not_gathered_from_too():
    table = tf.Variable(TABLE)

    @tf.function
    def gradient():
        with tf.GradientTape() as tape:
            found = embedding.vectors(table, tf.constant([2, 2]))
            total = tf.reduce_sum(sqrt_n(table, [[1], [2]])) + tf.reduce_sum(found)
        return tape.gradient(total, table)

    found = gradient()
    assert isinstance(found, tf.IndexedSlices)
    np.testing.assert_allclose(tf.convert_to_tensor(found), [[0, 0], [1, 1], [3, 3]])
    operations = {each.type for each in gradient.get_concrete_function().graph.get_operations()}
    assert "ResourceGather" not in operations


def test_plain_sums_and_their_gradient(table):
    with tf.GradientTape() as tape:
        sums = embedding.sums(table, tf.constant([[1, 0, 1], [0, 0, 0], [0, 2, 1]]))
        total = tf.reduce_sum(sums * [[1.0, 1.0], [7.0, 7.0], [10.0, 10.0]])
    np.testing.assert_array_equal(sums, [[2, 4], [0, 0], [4, 6]])
    # Id 1 is twice in the first row and once in the third.
    gradient = tf.convert_to_tensor(tape.gradient(total, table))
    np.testing.assert_array_equal(gradient, [[0, 0], [12, 12], [10, 10]])


def test_weighted_sums_and_the_gradients_of_vectors_and_weights():
    vectors = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    ids, rows = tf.constant([2, 0, 0, 1, 0]), tf.constant([0, 0, 0, 2, 2], tf.int64)
    weights = tf.constant([1.0, 2.0, 1.0, 10.0, 1.0])
    with tf.GradientTape() as tape:
        tape.watch([vectors, weights])
        sums = embedding.weighted_sums(vectors, ids, rows, weights, shape=(4, 3))
        total = tf.reduce_sum(sums * [[1.0, 2.0], [7.0, 7.0], [10.0, 0.0], [9.0, 9.0]])
    np.testing.assert_array_equal(sums, [[8, 12], [0, 0], [31, 42], [0, 0]])
    of_vectors, of_weights = tape.gradient(total, [vectors, weights])
    np.testing.assert_array_equal(of_vectors, [[13, 6], [100, 0], [1, 2]])
    np.testing.assert_array_equal(of_weights, [17, 5, 5, 30, 10])


@pytest.mark.parametrize("shape", [(0, 3), (2, 0)])
def test_weighted_sums_of_nothing_and_their_gradient(shape):
    none = tf.zeros([0], tf.int64)

    @tf.function
    def computed(vectors, shape):
        with tf.GradientTape() as tape:
            tape.watch(vectors)
            sums = embedding.weighted_sums(vectors, none, none, tf.zeros([0]), shape=tuple(shape))
        return sums, tape.gradient(sums, vectors)

    vectors = tf.zeros([shape[1], 5])
    sums, gradient = computed(vectors, tf.unstack(tf.constant(shape)))
    np.testing.assert_array_equal(sums, np.zeros([shape[0], 5]))
    np.testing.assert_array_equal(gradient, vectors)


UNITS, WORD_DIM = (SIZES["recurrent"][name] for name in ("units", "word_dim"))
PADDED = [[5, 6, 7, 0, 0], [8, 0, 0, 0, 0]]


def recurrent(**options):
    """One whose embedding has the width of the state."""
    return build("recurrent", embedding_dim=0, **options)


def encode(encoder, rows, training=False):
    outputs = encoder({"words": tf.constant(rows)}, training=training)
    return {name: output.numpy() for name, output in outputs.items()}


def unit(row):
    return row / np.linalg.norm(row)


def hidden_states(kernels, vectors):
    """h after each of the vectors, from the cell's weights alone: [tokens, units]."""
    cell = tf_keras.layers.LSTMCell(UNITS)
    cell.build([None, WORD_DIM])
    cell.set_weights(kernels)
    states, hidden = [tf.zeros([1, UNITS])] * 2, []
    for vector in vectors:
        output, states = cell(vector[np.newaxis], states)
        hidden.append(output.numpy()[0])
    return np.array(hidden)


def both_directions(encoder, ids):
    """The table, three weights of the forward cell and three of the backward one."""
    table, *kernels = encoder.get_weights()
    forward = hidden_states(kernels[:3], table[ids])
    backward = hidden_states(kernels[3:], table[ids[::-1]])
    return forward, backward


def test_the_sequence_is_both_directions_side_by_side_and_0_at_padding():
    encoder = recurrent()
    forward, backward = both_directions(encoder, [5, 6, 7])
    sequence = encode(encoder, PADDED)["sequence_output"]
    assert sequence.shape == (2, 5, 2 * UNITS)
    np.testing.assert_allclose(sequence[0, :3, :UNITS], forward, atol=1e-6)
    np.testing.assert_allclose(sequence[0, :3, UNITS:], backward[::-1], atol=1e-6)
    assert not sequence[0, 3:].any()


def test_the_maximum_and_the_last_states_are_of_the_real_words():
    encoder = recurrent(pooling="max")
    states = np.concatenate(both_directions(encoder, [5, 6, 7]), axis=1)
    states[:, UNITS:] = states[::-1, UNITS:]
    row = encode(encoder, PADDED)["default"][0]
    np.testing.assert_allclose(row, unit(states.max(axis=0)), atol=1e-6)
    encoder = recurrent(pooling="last")
    last = np.concatenate([states[-1] for states in both_directions(encoder, [5, 6, 7])])
    np.testing.assert_allclose(encode(encoder, PADDED)["default"][0], unit(last), atol=1e-6)


@pytest.mark.parametrize(
    ("bidirectional", "pooling", "layers"),
    [(False, "last", 1), (False, "max", 2), (True, "last", 2), (True, "max", 1)],
)
def test_padding_behind_and_in_the_middle_changes_nothing(bidirectional, pooling, layers):
    encoder = recurrent(bidirectional=bidirectional, pooling=pooling, layers=layers)
    alone = encode(encoder, [[5, 6, 7]])
    padded = encode(encoder, [[5, 6, 7, *[0] * 9], list(range(1, 13))])
    np.testing.assert_allclose(padded["default"][:1], alone["default"], atol=1e-5)
    sequence = padded["sequence_output"]
    np.testing.assert_allclose(sequence[:1, :3], alone["sequence_output"], atol=1e-5)
    holes = encode(encoder, [[5, 0, 6, 0, 7], [0, 0, 0, 0, 8]])["default"]
    np.testing.assert_allclose(holes, encode(encoder, PADDED)["default"], atol=1e-6)


@pytest.mark.parametrize("shape", [(0, 0), (0, 3)])
def test_a_batch_of_none_gives_none(shape):
    encoder = recurrent()
    run = tf.function(encoder, [{"words": tf.TensorSpec([None, None], tf.int32)}])
    outputs = run({"words": tf.zeros(shape, tf.int32)})
    assert outputs["default"].shape == (0, 2 * UNITS)
    assert outputs["sequence_output"].shape == (*shape, 2 * UNITS)
    assert outputs["mask"].shape == shape

"""Lookups and sums of rows of a table, and their gradients, by hand."""

import numpy as np
import pytest
import tensorflow as tf

from model.layers import embedding

TABLE = [[9.0, 9.0], [1.0, 2.0], [3.0, 4.0]]


@pytest.fixture(params=["here", "on a parameter server"])
def table(request, monkeypatch):
    if request.param != "here":
        monkeypatch.setattr(embedding, "_in_place", lambda table: None)
    return tf.Variable(TABLE)


def summed(table, ids):
    return embedding.sqrt_n_sums(table, tf.constant(ids))


def test_sums_over_the_root_of_their_number_and_their_gradient(table):
    with tf.GradientTape() as tape:
        sums = summed(table, [[1, 2, 2], [1, 0, 0], [0, 0, 0]])
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
            total = tf.reduce_sum(summed(table, [[1], [2]])) + tf.reduce_sum(found)
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


def test_bags_are_rows_without_their_padding():
    bags = embedding.bags(tf.constant([[3, 0, 4], [0, 0, 0], [5, 0, 0]]))
    np.testing.assert_array_equal(bags.ids, [3, 4, 5])
    np.testing.assert_array_equal(bags.rows, [0, 0, 2])
    by_root = embedding.one_by_root(bags.rows, tf.constant(3))
    np.testing.assert_allclose(by_root, [2**-0.5, 1, 1], rtol=1e-6)

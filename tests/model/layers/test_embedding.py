"""Lookups and sums of rows of a table, and their gradients, by hand."""

import numpy as np
import pytest
import tensorflow as tf

from model.layers import embedding
from model.text import PADDING

TABLE = [[9.0, 9.0], [1.0, 2.0], [3.0, 4.0]]


@pytest.fixture(params=["here", "on a parameter server"])
def table(request, monkeypatch):
    if request.param != "here":
        monkeypatch.setattr(embedding, "_in_place", lambda table: None)
    return tf.Variable(TABLE)


def summed(table, ids, **options):
    ids = tf.constant(ids)
    return embedding.sqrt_n_sums(table, ids, tf.where(ids != PADDING), **options)


def test_sums_over_the_root_of_their_number_and_their_gradient(table):
    with tf.GradientTape() as tape:
        sums = summed(table, [[1, 2, 2], [1, 0, 0], [0, 0, 0]])
        total = tf.reduce_sum(sums)
    np.testing.assert_allclose(sums, [np.array([7, 10]) / np.sqrt(3), [1, 2], [0, 0]], rtol=1e-6)
    gradient = tape.gradient(total, table)
    assert isinstance(gradient, tf.IndexedSlices)
    assert sorted(gradient.indices.numpy()) == [1, 2]
    # Row 1 stands once among three and once alone, row 2 twice among three.
    expected = [[0, 0], [1 / np.sqrt(3) + 1] * 2, [2 / np.sqrt(3)] * 2]
    np.testing.assert_allclose(tf.convert_to_tensor(gradient), expected, rtol=1e-6)


@pytest.mark.parametrize("ids", [[[1, 2, 2], [1, 0, 0], [2, 0, 0]], [[2, 1]]], ids=["3", "1"])
def test_two_halves_of_the_rows_come_to_the_same(ids):
    table = tf.Variable(TABLE)
    with tf.GradientTape(persistent=True) as tape:
        whole, halves = summed(table, ids), summed(table, ids, in_halves=True)
    np.testing.assert_array_equal(halves, whole)
    expected, found = (tf.convert_to_tensor(tape.gradient(sums, table)) for sums in (whole, halves))
    np.testing.assert_allclose(found, expected, rtol=1e-6)


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


@pytest.mark.parametrize("sorts", [False, True])
def test_plain_sums_and_their_gradient(table, sorts):
    with tf.GradientTape() as tape:
        ids = tf.constant([[1, 0, 1], [0, 0, 0], [0, 2, 1]])
        sums = embedding.sums(table, ids, sorts_gradient=sorts)
        total = tf.reduce_sum(sums * [[1.0, 1.0], [7.0, 7.0], [10.0, 10.0]])
    np.testing.assert_array_equal(sums, [[2, 4], [0, 0], [4, 6]])
    # Id 1 is twice in the first row and once in the third.
    gradient = tf.convert_to_tensor(tape.gradient(total, table))
    np.testing.assert_array_equal(gradient, [[0, 0], [12, 12], [10, 10]])


def test_the_sorted_gradient_of_a_sqrt_n_sum():
    vectors = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    ids, of_row = tf.constant([2, 0, 0, 1, 0]), tf.constant([0, 0, 0, 0, 1], tf.int64)
    with tf.GradientTape() as tape:
        tape.watch(vectors)
        sums = embedding.segment_sqrt_n(vectors, ids, of_row)
        total = tf.reduce_sum(sums * [[1.0, 2.0], [10.0, 20.0]])
    # (5 + 1 + 1 + 3) / 2 and (6 + 2 + 2 + 4) / 2
    np.testing.assert_array_equal(sums, [[5, 7], [1, 2]])
    gradient = tape.gradient(total, vectors)
    np.testing.assert_array_equal(gradient, [[1 / 2 + 1 / 2 + 10, 22], [1 / 2, 1], [1 / 2, 1]])


def test_the_gradient_of_a_long_text_is_right_in_16_bits():
    vectors, ids = tf.ones([1, 2], tf.bfloat16), tf.zeros([1024], tf.int32)
    with tf.GradientTape() as tape:
        tape.watch(vectors)
        total = tf.reduce_sum(embedding.segment_sqrt_n(vectors, ids, tf.zeros([1024], tf.int64)))
    # 1024 / sqrt(1024)
    np.testing.assert_array_equal(tf.cast(tape.gradient(total, vectors), tf.float32), [[32, 32]])

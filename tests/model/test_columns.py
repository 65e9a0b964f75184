"""What replicas exchange before their weights are read."""

import numpy as np
import pytest
import tensorflow as tf

from model.columns import Columns, owners


@pytest.mark.parametrize(
    ("dim", "replicas", "expected"), [(768, 8, 8), (300, 8, 6), (7, 4, 1), (2, 4, 2), (5, 1, 1)]
)
def test_as_many_replicas_own_columns_as_can_share_them_equally(dim, replicas, expected):
    assert owners(dim, replicas) == expected


@pytest.mark.parametrize(("dim", "whole"), [(4, [0, 0, 1, 1]), (3, [0, 0, 0])])
def test_each_owner_gives_its_columns_and_the_first_replica_the_rest(two_replicas, dim, whole):
    """Each replica has its number in all places."""
    with two_replicas.scope():
        table, sums = tf.Variable(tf.zeros([5, dim])), tf.Variable(tf.zeros([5]))

    def disagree():
        for number, copies in enumerate(zip(table.values, sums.values, strict=True)):
            for copy in copies:
                copy.assign(tf.fill(copy.shape, float(number)))

    columns = Columns(two_replicas, shared=[table], others=[sums])
    disagree()
    columns.synchronize(7)
    for copy, other in zip(table.values, sums.values, strict=True):
        np.testing.assert_array_equal(copy, [whole] * 5)
        np.testing.assert_array_equal(other, np.zeros(5))
    disagree()
    columns.synchronize(7)  # after no further step nothing is exchanged
    assert sums.values[1][0] == 1
    columns.synchronize(8)
    assert sums.values[1][0] == 0

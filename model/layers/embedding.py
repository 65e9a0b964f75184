"""Lookups in an embedding table that do not copy the table.

Under a strategy with replicas, `tf.gather` of TensorFlow 2.20 and all that is built on it
(`tf.nn.embedding_lookup`, `tf_keras.layers.Embedding`) copy the whole table in every step; of the
replica's own variable they do not.
"""

from collections.abc import Callable
from functools import partial

import tensorflow as tf
import tf_keras

from model.layers import xla
from model.serialization import serializable
from model.text import PADDING


def rows(table: tf.Variable | tf.Tensor, ids: tf.Tensor) -> tf.Tensor:
    """Vectors of ids, with a sparse gradient.

    Args:
      table: [ids, dim].
      ids: integers [any shape].

    Returns:
      [that shape, dim], of the table's own dtype whatever the policy.
    """
    return tf.gather(_own(table), ids)


def sqrt_n_sums(table: tf.Variable | tf.Tensor, ids: tf.Tensor, places: tf.Tensor) -> tf.Tensor:
    """Sums of vectors, divided by the root of their number, with a sparse gradient.

    Args:
      table: [ids, dim].
      ids: integers [batch, tokens].
      places: int64 [n, 2], where `ids` are not `PADDING`, row by row; every row has one.

    Returns:
      [batch, dim], of the table's own dtype.
    """
    if xla.way() == xla.DENSE:
        return _dense_sums(table, ids)
    flat, of_row = tf.gather_nd(ids, places), places[:, 0]
    whole = _in_place(_own(table))
    if whole is None:
        different, positions = tf.unique(flat)
        return tf.sparse.segment_sqrt_n(rows(table, different), positions, of_row)
    # Summed where they lie, the rows are never copied.
    sums = partial(tf.sparse.segment_sqrt_n, whole, flat, of_row, sparse_gradient=True)
    return sums() if xla.way() == xla.NORMAL else _sums_both_ways(whole, ids, sums)


def _dense_sums(table: tf.Variable | tf.Tensor, ids: tf.Tensor) -> tf.Tensor:
    """As `sqrt_n_sums`, padding being looked up too."""
    real = tf.expand_dims(tf.cast(ids != PADDING, tf.float32), axis=-1)
    count = tf.maximum(tf.reduce_sum(real, axis=1), 1)
    return tf.reduce_sum(rows(table, ids) * real, axis=1) / tf.sqrt(count)


def _sums_both_ways(whole: tf.Tensor, ids: tf.Tensor, sums: Callable[..., tf.Tensor]) -> tf.Tensor:
    """As `sqrt_n_sums`, from operations whose gradients need only their arguments.

    A row of padding alone, which a caller may fill a batch with, is 0 either way.
    """
    row_of_each, scale = xla.choose(lambda: (ids, tf.ones([1, 1])), lambda: _rows_and_scale(ids))
    return scale * xla.choose(
        lambda: sums(num_segments=tf.shape(ids)[0]),
        lambda: tf.math.unsorted_segment_sum(tf.gather(whole, ids), row_of_each, tf.shape(ids)[0]),
    )


def _rows_and_scale(ids: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """The row of each id, below 0 for padding, and 1 / sqrt(n): [batch, tokens], [batch, 1]."""
    row = tf.range(tf.shape(ids)[0], dtype=ids.dtype)[:, tf.newaxis]
    count = tf.math.count_nonzero(ids != PADDING, axis=1, keepdims=True, dtype=tf.float32)
    return tf.where(ids == PADDING, -1, row), tf.math.rsqrt(tf.maximum(count, 1))


def vectors(table: tf.Variable | tf.Tensor, ids: tf.Tensor) -> tf.Tensor:
    """As `rows`, for a table that `sqrt_n_sums` sums of too.

    A table that is both gathered from and read in place is copied each time, which made a step
    8 times as long; so it is read in place here too, where possible.
    """
    whole = None if xla.way() == xla.DENSE else _in_place(_own(table))
    return rows(table, ids) if whole is None else tf.gather(whole, ids)


def _own(table: tf.Variable | tf.Tensor) -> tf.Variable | tf.Tensor:
    """The replica's own variable, of which mixed precision and strategies show a view."""
    kept = getattr(table, "_variable", table)
    return kept._get() if isinstance(kept, tf.distribute.DistributedValues) else kept


def _in_place(table: tf.Variable | tf.Tensor) -> tf.Tensor | None:
    """The table as a whole, where that costs nothing: not from a parameter server."""
    if isinstance(table, tf.Tensor):
        return table
    if not hasattr(table, "read_value_no_copy") or "/job:ps" in table.device:
        return None
    # Without a copy even where rows of it were read or trained alone before.
    if xla.way() == xla.NORMAL:
        return table.read_value_no_copy()
    with tf.control_dependencies([xla.choose(lambda: _never_copied(table), _nothing)]):
        return table.read_value()


def _never_copied(table: tf.Variable) -> tf.Tensor:
    """What `read_value_no_copy` does before it reads; XLA has no kernel for it."""
    with tf.control_dependencies([tf.raw_ops.DisableCopyOnRead(resource=table.handle)]):
        return _nothing()


def _nothing() -> tf.Tensor:
    return tf.constant(0)


@serializable
class Embedding(tf_keras.layers.Embedding):
    """Keras's layer, without the copy."""

    def call(self, ids: tf.Tensor) -> tf.Tensor:
        """Integers [batch, tokens] -> [batch, tokens, output_dim]."""
        return tf.cast(rows(self.embeddings, ids), self.compute_dtype)

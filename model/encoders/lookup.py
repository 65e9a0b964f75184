"""Rows of a table of vectors, without a copy of the table.

Under a strategy with replicas, `tf.gather` of TensorFlow 2.20 and all that is built on it
(`tf.nn.embedding_lookup`, `tf_keras.layers.Embedding`) copy the whole table in every step; of the
replica's own variable they do not.
"""

import tensorflow as tf
import tf_keras


def rows(table: tf.Variable | tf.Tensor, ids: tf.Tensor) -> tf.Tensor:
    """Vectors of ids, with a sparse gradient.

    Args:
      table: [ids, dim].
      ids: integers [any shape].

    Returns:
      [that shape, dim], of the table's own dtype whatever the policy.
    """
    return tf.gather(_own(table), ids)


def sqrt_n_sums(table: tf.Variable | tf.Tensor, ids: tf.Tensor, of_row: tf.Tensor) -> tf.Tensor:
    """Sums of vectors, divided by the root of their number, with a sparse gradient.

    Args:
      table: [ids, dim].
      ids: integers [n].
      of_row: integers [n], the row that each id is summed to: from 0 on, not falling.

    Returns:
      [the last row + 1, dim], of the table's own dtype.
    """
    whole = _in_place(_own(table))
    if whole is None:
        different, places = tf.unique(ids)
        return tf.sparse.segment_sqrt_n(rows(table, different), places, of_row)
    # Summed where they lie, the rows are never copied.
    return tf.sparse.segment_sqrt_n(whole, ids, of_row, sparse_gradient=True)


def vectors(table: tf.Variable | tf.Tensor, ids: tf.Tensor) -> tf.Tensor:
    """As `rows`, for a table that `sqrt_n_sums` sums of too.

    A table that is gathered from and read in place by turns is copied each time, which made a
    step 8 times as long: here too it is read in place, where that can be.
    """
    whole = _in_place(_own(table))
    return rows(table, ids) if whole is None else tf.gather(whole, ids)


def _own(table: tf.Variable | tf.Tensor) -> tf.Variable | tf.Tensor:
    """The replica's own variable, of which mixed precision and strategies show a view."""
    kept = getattr(table, "_variable", table)
    return kept._get() if isinstance(kept, tf.distribute.DistributedValues) else kept


def _in_place(table: tf.Variable | tf.Tensor) -> tf.Tensor | None:
    """The table as a whole, where that costs nothing: not from a parameter server."""
    if isinstance(table, tf.Tensor):
        return table
    is_near = hasattr(table, "read_value_no_copy") and "/job:ps" not in table.device
    # Without a copy even where rows of it were read or trained alone before.
    return table.read_value_no_copy() if is_near else None


class Embedding(tf_keras.layers.Embedding):
    """Keras's layer, without the copy."""

    def call(self, ids: tf.Tensor) -> tf.Tensor:
        """Integers [batch, tokens] -> [batch, tokens, output_dim]."""
        return tf.cast(rows(self.embeddings, ids), self.compute_dtype)

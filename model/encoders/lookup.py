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


def sqrt_n_sums(
    table: tf.Variable | tf.Tensor, ids: tf.Tensor, of_row: tf.Tensor, *, in_place: bool
) -> tf.Tensor:
    """Sums of vectors, divided by the root of their number, with a gradient that is sparse.

    Args:
      table: [ids, dim].
      ids: integers [n].
      of_row: integers [n], the row that each id is summed to: from 0 on, not falling.
      in_place: whether a graph without gradients may sum out of the table itself. That saves a
        copy of the rows, a fifth of the time of a sentence, until anything reads or trains rows
        of the table in another way: from then on each such sum copies the whole table.

    Returns:
      [the last row + 1, dim], of the table's own dtype.
    """
    # TensorFlow 2.20 brings rows of unique ids that are summed into the form in place; of ids
    # that were counted too it does not. Nor where the number of rows is given.
    different, places = tf.unique(ids) if in_place else tf.unique_with_counts(ids)[:2]
    return tf.sparse.segment_sqrt_n(rows(table, different), places, of_row)


def _own(table: tf.Variable | tf.Tensor) -> tf.Variable | tf.Tensor:
    """The replica's own variable, of which mixed precision and strategies show a view."""
    kept = getattr(table, "_variable", table)
    return kept._get() if isinstance(kept, tf.distribute.DistributedValues) else kept


class Embedding(tf_keras.layers.Embedding):
    """Keras's layer, without the copy."""

    def call(self, ids: tf.Tensor) -> tf.Tensor:
        """Integers [batch, tokens] -> [batch, tokens, output_dim]."""
        return tf.cast(rows(self.embeddings, ids), self.compute_dtype)

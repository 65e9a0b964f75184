"""Lookups in an embedding table that do not copy the table.

Under a strategy with replicas, `tf.gather` of TensorFlow 2.20 and all that is built on it
(`tf.nn.embedding_lookup`, `tf_keras.layers.Embedding`) copy the whole table in every step; of the
replica's own variable they do not.
"""

from typing import Any

import tensorflow as tf
import tf_keras

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


def sqrt_n_sums(
    table: tf.Variable | tf.Tensor, ids: tf.Tensor, places: tf.Tensor, *, in_halves: bool = False
) -> tf.Tensor:
    """Sums of vectors, divided by the root of their number, with a sparse gradient.

    Args:
      table: [ids, dim].
      ids: integers [batch, tokens].
      places: int64 [n, 2], where `ids` are not `PADDING`, row by row.
      in_halves: whether two cores sum half of the rows each, with places that they find themselves.
        An id that is in both halves is in the gradient twice.

    Returns:
      [batch, dim], of the table's own dtype; 0 for a row of padding alone.
    """
    batch = tf.shape(ids)[0]
    if in_halves:
        # TensorFlow's operation uses one core: two of them encode 1.3 times the sentences.
        halves = (ids[: batch // 2], ids[batch // 2 :])
        sums_of = [sqrt_n_sums(table, half, tf.where(half != PADDING)) for half in halves]
        return tf.concat(sums_of, axis=0)
    flat, of_row = tf.gather_nd(ids, places), places[:, 0]
    whole = _in_place(_own(table))
    if whole is None:
        different, positions = tf.unique(flat)
        return tf.sparse.segment_sqrt_n(
            rows(table, different), positions, of_row, num_segments=batch
        )
    # Summed where they lie, the rows are never copied.
    return tf.sparse.segment_sqrt_n(whole, flat, of_row, num_segments=batch, sparse_gradient=True)


def sums(
    table: tf.Variable | tf.Tensor, ids: tf.Tensor, *, sorts_gradient: bool = False
) -> tf.Tensor:
    """Sums of vectors, with a sparse gradient; 0 for a row of padding alone.

    Args:
      table: [ids, dim].
      ids: integers [batch, tokens].
      sorts_gradient: whether the gradient is summed as `segment_sqrt_n` says; not for an export.

    Returns:
      [batch, dim], of the table's own dtype.
    """
    places = tf.where(ids != PADDING)
    flat, of_row, batch = tf.gather_nd(ids, places), places[:, 0], tf.shape(ids)[0]
    whole = _in_place(_own(table))
    if whole is None:
        different, positions = tf.unique(flat)
        return tf.sparse.segment_sum(rows(table, different), positions, of_row, num_segments=batch)
    if sorts_gradient:
        return _segment_sum(whole, flat, of_row, batch)
    return tf.sparse.segment_sum(whole, flat, of_row, num_segments=batch, sparse_gradient=True)


def _segment_sum(
    whole: tf.Tensor, ids: tf.Tensor, of_row: tf.Tensor, num_segments: tf.Tensor
) -> tf.Tensor:
    """As `tf.sparse.segment_sum`, with a sparse gradient summed as `segment_sqrt_n` says."""

    @tf.custom_gradient
    def add(whole: tf.Tensor) -> Any:
        def gradient(upstream: tf.Tensor) -> tf.IndexedSlices:
            different, positions = tf.unique(ids)
            summed = _summed_by_id(upstream, of_row, positions, count=tf.size(different))
            return tf.IndexedSlices(summed, different, tf.shape(whole))

        return tf.sparse.segment_sum(whole, ids, of_row, num_segments=num_segments), gradient

    return add(whole)


def segment_sqrt_n(vectors: tf.Tensor, ids: tf.Tensor, of_row: tf.Tensor) -> tf.Tensor:
    """As `tf.sparse.segment_sqrt_n`, with a gradient that takes a third of the time.

    TensorFlow's gradient adds each row of the upstream gradient to the place that it belongs to.
    Sorted by place, the rows are summed by the kernel of the forward pass: 25,000 rows of 768
    numbers in 7 ms instead of 22 on a core of AMD EPYC (25 November 2026). SavedModels do not
    keep such a gradient, so this is not for an export.

    Args:
      vectors: float [n, dim].
      ids: rows of `vectors`, each at least once, integers [tokens].
      of_row: the row of the result that each is added to, int64 [tokens], not falling.

    Returns:
      [batch, dim], of the type of `vectors`.
    """

    @tf.custom_gradient
    def add(vectors: tf.Tensor) -> Any:
        def gradient(upstream: tf.Tensor) -> tf.Tensor:
            # Not in 16 bits: bfloat16 counts to 256.
            number = tf.math.segment_sum(tf.ones_like(of_row, tf.float32), of_row)
            by_root = tf.math.rsqrt(tf.maximum(number, 1))
            scaled = upstream * tf.cast(by_root, upstream.dtype)[:, tf.newaxis]
            return _summed_by_id(scaled, of_row, ids, count=tf.shape(vectors)[0])

        return tf.sparse.segment_sqrt_n(vectors, ids, of_row), gradient

    return add(vectors)


def _summed_by_id(
    upstream: tf.Tensor, of_row: tf.Tensor, ids: tf.Tensor, *, count: tf.Tensor
) -> tf.Tensor:
    """Sums for each id the rows of `upstream` that it was added to: [count, dim]."""
    order = tf.argsort(ids, stable=True)
    rows_of, sorted_ids = tf.gather(of_row, order), tf.gather(ids, order)
    return tf.sparse.segment_sum(upstream, rows_of, sorted_ids, num_segments=count)


def vectors(table: tf.Variable | tf.Tensor, ids: tf.Tensor) -> tf.Tensor:
    """As `rows`, for a table that `sqrt_n_sums` sums of too.

    A table that is both gathered from and read in place is copied each time, which made a step
    8 times as long; so it is read in place here too, where possible.
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
    if not hasattr(table, "read_value_no_copy") or "/job:ps" in table.device:
        return None
    # Without a copy even where rows of it were read or trained alone before.
    return table.read_value_no_copy()


class Embedding(tf_keras.layers.Embedding):
    """Keras's layer, without the copy."""

    def call(self, ids: tf.Tensor) -> tf.Tensor:
        """Integers [batch, tokens] -> [batch, tokens, output_dim]."""
        return tf.cast(rows(self.embeddings, ids), self.compute_dtype)

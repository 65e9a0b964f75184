"""Rows of a table of vectors, without a copy of the table."""

import tensorflow as tf
import tf_keras


def rows(table: tf.Variable, ids: tf.Tensor) -> tf.Tensor:
    """Vectors of ids, with a sparse gradient.

    Under a strategy with replicas, `tf.gather` of TensorFlow 2.20 and all that is built on it
    (`tf.nn.embedding_lookup`, `tf_keras.layers.Embedding`) copy the whole table in every step;
    of the replica's own variable they do not.

    Args:
      table: [ids, dim].
      ids: integers [any shape].

    Returns:
      [that shape, dim], of the table's own dtype whatever the policy.
    """
    kept = getattr(table, "_variable", table)  # inside what mixed precision wraps it in
    replicas = isinstance(kept, tf.distribute.DistributedValues)
    return tf.gather(kept._get() if replicas else kept, ids)


class Embedding(tf_keras.layers.Embedding):
    """Keras's layer, without the copy."""

    def call(self, ids: tf.Tensor) -> tf.Tensor:
        """Integers [batch, tokens] -> [batch, tokens, output_dim]."""
        return tf.cast(rows(self.embeddings, ids), self.compute_dtype)

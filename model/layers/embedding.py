"""Tables of vectors, and lookups that do not copy them.

Under a strategy with replicas, `tf.gather` of TensorFlow 2.20 and all that is built on it
(`tf.nn.embedding_lookup`, `tf_keras.layers.Embedding`) copy the whole table in every step; of the
replica's own variable they do not.
"""

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, NamedTuple

import tensorflow as tf
import tf_keras

from model.layers.dropout import IdDropout
from model.text import PADDING
from model.text.preprocessing import NGRAMS_A_WORD

READ: ContextVar[Callable[[tf.Variable, tf.Tensor], tf.Tensor] | None] = ContextVar(
    "READ", default=None
)
"""In training of several replicas `vectors` calls it, if it is set: `model.gradients`."""


def rows(table: tf.Variable | tf.Tensor, ids: tf.Tensor) -> tf.Tensor:
    """Rows of a table [ids, dim], with a sparse gradient: integers [any shape] -> [shape, dim].

    They are of the table's own dtype, whatever the policy.
    """
    return tf.gather(own(table), ids)


def sqrt_n_sums(table: tf.Variable | tf.Tensor, ids: tf.Tensor) -> tf.Tensor:
    """Sums of vectors, divided by the root of their number, with a sparse gradient.

    Of a table [ids, dim], ids [batch, tokens] -> [batch, dim], of the table's own dtype; 0 for a
    row of padding alone.
    """
    # TensorFlow's operation uses one core: two of them encode 1.3 times the sentences. An id that
    # is in both halves is in the gradient twice.
    middle = tf.shape(ids)[0] // 2
    halves = [_sums(tf.sparse.segment_sqrt_n, table, half) for half in (ids[:middle], ids[middle:])]
    return tf.concat(halves, axis=0)


def sums(table: tf.Variable | tf.Tensor, ids: tf.Tensor) -> tf.Tensor:
    """As `sqrt_n_sums`, not divided."""
    return _sums(tf.sparse.segment_sum, table, ids)


def _sums(segment: Callable[..., tf.Tensor], table: tf.Variable, ids: tf.Tensor) -> tf.Tensor:
    of, count = bags(ids), tf.shape(ids)[0]
    whole = in_place(own(table))
    if whole is None:
        different, positions = tf.unique(of.ids)
        return segment(rows(table, different), positions, of.texts, num_segments=count)
    # Summed where they lie, the rows are never copied.
    return segment(whole, of.ids, of.texts, num_segments=count, sparse_gradient=True)


class Bags(NamedTuple):
    """The ids of texts in one vector, without padding."""

    ids: tf.Tensor
    """int32 [n], text by text."""
    texts: tf.Tensor
    """The text of each, int64 [n], not falling; a word, if the ids are those of its n-grams."""


def bags(ids: tf.Tensor) -> Bags:
    """Padded ids, int32 [batch, tokens], without their padding."""
    places = tf.where(ids != PADDING)
    return Bags(tf.gather_nd(ids, places), places[:, 0])


def one_by_root(texts: tf.Tensor, count: tf.Tensor) -> tf.Tensor:
    """1 / sqrt(n), n the number of ids of a text, 1 for none: int64 [n] -> float32 [count]."""
    number = tf.math.unsorted_segment_sum(tf.ones_like(texts, tf.float32), texts, count)
    return tf.math.rsqrt(tf.maximum(number, 1))


def weighted_sums(
    vectors: tf.Tensor,
    ids: tf.Tensor,
    rows: tf.Tensor,
    weights: tf.Tensor,
    *,
    shape: tuple[tf.Tensor, tf.Tensor],
) -> tf.Tensor:
    """Sums of weighted vectors: a sparse matrix times a dense one.

    In training it takes the place of `tf.sparse.segment_sum`, which uses one core and whose
    gradient adds the rows one by one: 17,000 rows of 768 numbers, 3,000 different ones, take 4.6
    ms forward and 3.8 back on one core of AMD EPYC instead of 6.4 and 6.9 (28 November 2026).
    SavedModels do not keep such a gradient, so this is not for an export.

    Args:
      vectors: float32 [different, dim].
      ids: rows of `vectors`, integers [n].
      rows: the row of the result that each is added to, int64 [n], not falling.
      weights: what each is multiplied by, float32 [n].
      shape: the number of rows of the result, and of `vectors`.

    Returns:
      float32 [rows, dim]; 0 for a row to which none is added.
    """
    ids = tf.cast(ids, tf.int64)

    @tf.custom_gradient
    def product(vectors: tf.Tensor, weights: tf.Tensor) -> Any:
        matrix = tf.raw_ops.SparseTensorToCSRSparseMatrix(
            indices=tf.stack([rows, ids], axis=1),
            values=weights,
            dense_shape=tf.cast(shape, tf.int64),
        )

        def gradient(upstream: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
            transposed = tf.raw_ops.SparseMatrixTranspose(input=matrix, type=tf.float32)
            of_vectors = _times(transposed, upstream, rows=shape[1])
            products = tf.gather(upstream, rows) * tf.gather(vectors, ids)
            return of_vectors, tf.reduce_sum(products, axis=1)

        return _times(matrix, vectors, rows=shape[0]), gradient

    return product(vectors, weights)


def _times(matrix: tf.Tensor, dense: tf.Tensor, *, rows: tf.Tensor) -> tf.Tensor:
    """A sparse matrix of so many rows times a dense one."""
    # In a graph, TensorFlow's kernel ends the process if there are none.
    return tf.cond(
        rows > 0,
        lambda: tf.raw_ops.SparseMatrixMatMul(a=matrix, b=dense),
        lambda: dense[:0],
    )


def table_sums(
    table: tf.Variable | tf.Tensor, bags: Bags, weights: tf.Tensor, *, count: tf.Tensor
) -> tf.Tensor:
    """Sums of a table's vectors, those of a text times its weight, by `weighted_sums`.

    Of a table [ids, dim], and weights of `count` texts, float32 [count] -> float32 [count, dim].
    """
    different, positions = tf.unique(bags.ids)
    return weighted_sums(
        vectors(table, different),
        positions,
        bags.texts,
        tf.gather(weights, bags.texts),
        shape=(count, tf.size(different)),
    )


def vectors(table: tf.Variable | tf.Tensor, ids: tf.Tensor) -> tf.Tensor:
    """As `rows`, for a table that `sqrt_n_sums` sums of too.

    A table that is both gathered from and read in place is copied each time, which made a step
    8 times as long; so it is read in place here too, where possible.
    """
    if read := READ.get():
        return read(table, ids)
    whole = in_place(own(table))
    return rows(table, ids) if whole is None else tf.gather(whole, ids)


def own(table: tf.Variable | tf.Tensor) -> tf.Variable | tf.Tensor:
    """The replica's own variable, of which mixed precision and strategies show a view."""
    kept = getattr(table, "_variable", table)
    return kept._get() if isinstance(kept, tf.distribute.DistributedValues) else kept


def in_place(table: tf.Variable | tf.Tensor) -> tf.Tensor | None:
    """The table as a whole, where that costs nothing: not from a parameter server."""
    if isinstance(table, tf.Tensor):
        return table
    if not hasattr(table, "read_value_no_copy") or "/job:ps" in table.device:
        return None
    # Without a copy even where rows of it were read or trained alone before.
    return table.read_value_no_copy()


class Embedding(tf_keras.layers.Embedding):
    """Keras's layer, without the copy; vectors are at first of about length 1."""

    def __init__(self, input_dim: int, output_dim: int, *, name: str):
        start = tf_keras.initializers.RandomNormal(stddev=output_dim**-0.5)
        super().__init__(input_dim, output_dim, embeddings_initializer=start, name=name)

    def call(self, ids: tf.Tensor) -> tf.Tensor:
        """Integers [batch, tokens] -> [batch, tokens, output_dim]."""
        return tf.cast(rows(self.embeddings, ids), self.compute_dtype)


class Table(tf_keras.layers.Layer):
    """Vectors of ids: `input_dim` ids, `output_dim` numbers each, at first of about length 1."""

    def __init__(self, input_dim: int, output_dim: int, *, name: str, initializer: Any = None):
        super().__init__(name=name)
        self.input_dim, self.output_dim = input_dim, output_dim
        unit = output_dim**-0.5
        self._initializer = initializer or tf_keras.initializers.RandomNormal(stddev=unit)

    def build(self, input_shape: tf.TensorShape | None) -> None:
        """Makes the table, [input_dim, output_dim]."""
        super().build(input_shape)
        shape = (self.input_dim, self.output_dim)
        self.table = self.add_weight("table", shape, initializer=self._initializer)


class CharNgrams(Table):
    """Character n-grams: sums of their vectors, times a weight.

    It knows the n-grams of the first `words` ids of words; `dropout` is the part of a word's that
    is left out at random in training.
    """

    def __init__(
        self, input_dim: int, output_dim: int, *, words: int, dropout: float, weight: float
    ):
        super().__init__(input_dim, output_dim, name="char_ngrams")
        self.words, self.weight = words, weight
        self._drop = IdDropout(dropout)

    def build(self, input_shape: tf.TensorShape | None) -> None:
        """Makes the table, and the n-grams of the words."""
        super().build(input_shape)
        if self.words:
            self.of_word = self.add_weight(
                "of_word",
                (self.words, NGRAMS_A_WORD),
                dtype=tf.int32,
                initializer="zeros",
                trainable=False,
            )

    def bags(self, words: tf.Tensor, training: bool | tf.Tensor = False) -> Bags:
        """The n-grams of words: ids of words, int32 [n] -> of each, its n-grams."""
        return bags(self._drop(rows(self.of_word, words), training=training))

    def sums(self, bags: Bags, weights: tf.Tensor, *, count: tf.Tensor) -> tf.Tensor:
        """N-grams, and float32 [count] that their sums are multiplied by -> [count, dim]."""
        return table_sums(self.table, bags, self.weight * weights, count=count)

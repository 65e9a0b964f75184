"""Tables whose columns the replicas of a run share in training.

Of n replicas, replica i reads and trains the i-th of n blocks of columns. Its copy of the other
columns is out of date until `Columns.synchronize`, before a checkpoint and a validation.
"""

from collections.abc import Callable, Sequence

import tensorflow as tf

from model.layers import embedding

_ROWS_AT_ONCE = 65_536
"""Rows that are exchanged together."""


def owners(dim: int, replicas: int) -> int:
    """How many replicas have columns: as many as can share `dim` of them equally."""
    return max(number for number in range(1, replicas + 1) if dim % number == 0)


def block(table: tf.Variable, ids: tf.Tensor, *, replica: tf.Tensor, owners: int) -> tf.Tensor:
    """A replica's columns of rows of a table [rows, dim]: integers [n] -> [n, dim / owners].

    A replica that has none gets the last ones.
    """
    return tf.gather(_parts(table, owners), _numbers(ids, replica=replica, owners=owners))


def subtract(
    update: tf.Tensor, table: tf.Variable, ids: tf.Tensor, *, replica: tf.Tensor, owners: int
) -> None:
    """Subtracts [n, dim / owners] from a replica's columns of rows of a table, in a graph.

    The ids differ. Operations on variables write whole rows, which takes 13 ms instead of 8 for
    half of 9,000 rows of 768 numbers (one core of AMD EPYC, 29 November 2026).
    """
    variable = embedding.own(table)

    def write_nothing() -> None:
        """Writes no row: TensorFlow orders and keeps what writes a variable."""
        nothing = tf.zeros([0, table.shape[1]])
        tf.raw_ops.ResourceScatterSub(resource=variable.handle, indices=ids[:0], updates=nothing)

    # Before, so that whoever has read the table keeps a copy; after, so that the update is not
    # pruned from the graph: TensorFlow does not know that InplaceSub writes a variable.
    write_nothing()
    parts = _parts(table, owners)
    numbers = _numbers(tf.cast(ids, tf.int32), replica=replica, owners=owners)
    with tf.control_dependencies([tf.raw_ops.InplaceSub(x=parts, i=numbers, v=update)]):
        write_nothing()


def _parts(table: tf.Variable, owners: int) -> tf.Tensor:
    """The parts of each row that its owners have, in place: [rows * owners, dim / owners]."""
    rows, dim = table.shape
    whole = embedding.in_place(embedding.own(table))
    return tf.reshape(whole, [rows * owners, dim // owners])


def _numbers(ids: tf.Tensor, *, replica: tf.Tensor, owners: int) -> tf.Tensor:
    """Those of a replica in `_parts`."""
    return ids * owners + tf.cast(tf.minimum(replica, owners - 1), ids.dtype)


class Columns:
    """Brings the variables of a run up to date on all replicas.

    Args:
      strategy: of the run.
      shared: variables [rows, dim] whose columns are shared: tables, and what has a number for each
        of theirs.
      others: variables of which replicas have nearly the same values: they round differently. All
        get those of the first replica, as if they had been restored from its checkpoint.
    """

    def __init__(
        self,
        strategy: tf.distribute.Strategy,
        *,
        shared: Sequence[tf.Variable],
        others: Sequence[tf.Variable],
    ):
        self._strategy, self._replicas = strategy, strategy.num_replicas_in_sync
        self._step: int | None = None
        self._exchanges = []
        if shared and self._replicas > 1:
            self._exchanges = [
                *(self._exchange(variable) for variable in shared),
                *(self._copy(variable) for variable in others),
            ]

    def synchronize(self, step: int) -> None:
        """Called by all workers after the same step; once is enough."""
        if step != self._step:
            for exchange in self._exchanges:
                exchange()
        self._step = step

    def _exchange(self, variable: tf.Variable) -> Callable[[], None]:
        rows, dim = variable.shape
        number = owners(dim, self._replicas)

        def on_replica(start: tf.Tensor) -> None:
            context = tf.distribute.get_replica_context()
            ids = tf.range(start, tf.minimum(start + _ROWS_AT_ONCE, rows))
            replica = tf.cast(context.replica_id_in_sync_group, tf.int32)
            of_all = context.all_gather(
                block(variable, ids, replica=replica, owners=number), axis=0
            )
            blocks = tf.reshape(of_all, [self._replicas, -1, dim // number])[:number]
            whole = tf.reshape(tf.transpose(blocks, [1, 0, 2]), [-1, dim])
            embedding.own(variable).scatter_update(tf.IndexedSlices(whole, ids))

        @tf.function(autograph=False)
        def step(start: tf.Tensor) -> None:
            self._strategy.run(on_replica, args=(start,))

        def exchange() -> None:
            for start in range(0, rows, _ROWS_AT_ONCE):
                step(tf.constant(start))

        return exchange

    def _copy(self, variable: tf.Variable) -> Callable[[], None]:
        def on_replica() -> None:
            own = embedding.own(variable)
            of_all = tf.distribute.get_replica_context().all_gather(
                tf.identity(own)[tf.newaxis], axis=0
            )
            own.assign(of_all[0])

        @tf.function(autograph=False)
        def step() -> None:
            self._strategy.run(on_replica)

        return step

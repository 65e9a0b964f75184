"""Gradients of a step: those of tables row by row, and the sum over replicas.

Replicas share the columns of tables that an encoder sums vectors of. Each reads and trains a block
of columns for the texts of all (`model.columns`), so that no row and no gradient of a row is
exchanged: only ids, and the sums of vectors, `dim` numbers a text each way, however many replicas
there are. Other gradients of tables (of a sequence encoder, of n-grams that are dropped) are
exchanged row by row.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple, TypeAlias

import tensorflow as tf
import tf_keras

from model import columns
from model.layers import embedding
from model.layers.embedding import Bags
from model.layers.encoders import POOL, Pooled
from model.optimizer import RowwiseAdagrad, square_sums

Gradient: TypeAlias = tf.Tensor | tf.IndexedSlices


class _Read(NamedTuple):
    """Rows of this replica's columns of a table: integers [n], and float32 [n, width]."""

    table: tf.Variable
    ids: tf.Tensor
    rows: tf.Tensor


class _Block(NamedTuple):
    """The gradient of a table whose columns are shared, each row of it once."""

    table: tf.Variable
    own: tf.IndexedSlices
    """This replica's columns."""
    own_squares: tf.Tensor
    squares: tf.Tensor
    """The sum of the squares of each row in own columns, and in all: float32 [n]."""


class Step:
    """The gradients of one step; called in replica context.

    `tape` records the forward pass:

        with tape, Step(tape).watching() as step:
            loss = ...
        norm = step.train(loss, variables, optimizer)
    """

    def __init__(self, tape: tf.GradientTape, *, exchange_dtype: str = "float32"):
        self._tape, self._reads = tape, list[_Read]()
        self._dtype = tf.as_dtype(exchange_dtype)
        self._context = tf.distribute.get_replica_context()
        self._replicas = self._context.num_replicas_in_sync
        self._replica = tf.cast(self._context.replica_id_in_sync_group, tf.int32)

    @contextmanager
    def watching(self) -> Iterator["Step"]:
        """Within, replicas share the columns of the tables that vectors are summed of."""
        before = POOL.set(self if self._replicas > 1 else None)
        try:
            yield self
        finally:
            POOL.reset(before)

    def sums(self, pooled: Pooled, bags: dict[str, Bags], count: tf.Tensor) -> tf.Tensor:
        """`pooled` of this replica's texts, as many as each other replica's: [count, dim]."""
        bags = self._bags_of_all(bags, count)
        return self._of_own(lambda: pooled(bags, count * self._replicas), count)

    def rows(self, vectors: Callable[[tf.Tensor], tf.Tensor], ids: tf.Tensor) -> tf.Tensor:
        """`vectors` of this replica's ids, int32 [n] -> [n, dim]."""
        number = tf.size(ids)
        most = tf.reduce_max(self._gathered(number[tf.newaxis]))
        of_all = self._gathered(tf.pad(ids, [[0, most - number]]))
        return self._of_own(lambda: vectors(of_all), most)[:number]

    def _of_own(self, of_all: Callable[[], tf.Tensor], count: tf.Tensor) -> tf.Tensor:
        """Own columns of the rows of all replicas -> all columns of this replica's rows."""
        before = embedding.READ.set(self._read)
        try:
            own = of_all()
        finally:
            embedding.READ.reset(before)
        owners = columns.owners(self._reads[-1].table.shape[1], self._replicas)
        width = own.shape[1]

        @tf.custom_gradient
        def exchanged(own: tf.Tensor) -> tuple[tf.Tensor, Callable[[tf.Tensor], tf.Tensor]]:
            blocks = self._all_to_all(tf.reshape(own, [self._replicas, count, width]))[:owners]
            whole = tf.reshape(tf.transpose(blocks, [1, 0, 2]), [count, owners * width])

            def gradient(upstream: tf.Tensor) -> tf.Tensor:
                blocks = tf.transpose(tf.reshape(upstream, [count, owners, width]), [1, 0, 2])
                sent = tf.pad(blocks, [[0, self._replicas - owners], [0, 0], [0, 0]])
                return tf.reshape(self._all_to_all(sent), [self._replicas * count, width])

            return whole, gradient

        return exchanged(own)

    def _read(self, table: tf.Variable, ids: tf.Tensor) -> tf.Tensor:
        owners = columns.owners(table.shape[1], self._replicas)
        rows = tf.stop_gradient(columns.block(table, ids, replica=self._replica, owners=owners))
        self._tape.watch(rows)
        self._reads.append(_Read(table, ids, rows))
        return rows

    def _bags_of_all(self, bags: dict[str, Bags], count: tf.Tensor) -> dict[str, Bags]:
        """The replicas' texts one below the other; each replica has as many."""
        before = self._replica * count
        packed = [
            tf.stack([tf.fill(tf.shape(ids), kind), ids, tf.cast(texts, tf.int32) + before], axis=1)
            for kind, (ids, texts) in enumerate(bags.values())
        ]
        kinds, ids, texts = tf.unstack(self._gathered(tf.concat(packed, axis=0)), num=3, axis=1)
        places = [tf.where(kinds == kind)[:, 0] for kind in range(len(bags))]
        return {
            name: Bags(tf.gather(ids, at), tf.cast(tf.gather(texts, at), tf.int64))
            for name, at in zip(bags, places, strict=True)
        }

    def train(
        self,
        loss: tf.Tensor,
        variables: Sequence[tf.Variable],
        optimizer: tf_keras.optimizers.legacy.Optimizer,
        *,
        measure_norm: bool | tf.Tensor = False,
    ) -> tf.Tensor:
        """Applies the gradients of the sum of all replicas' losses, each row of a table once.

        Returns:
          The norm of all replicas' gradient before clipping, float32 scalar: NaN if not measured.
        """
        rows = [read.rows for read in self._reads]
        of_variables, of_rows = self._tape.gradient(loss, (list(variables), rows))
        both = zip(of_variables, variables, strict=True)
        # A task has no gradient for another task's head.
        pairs = [(gradient, variable) for gradient, variable in both if gradient is not None]
        blocks = self._blocks(of_rows) if self._reads else []
        if self._replicas > 1:
            # While these are exchanged, rows of tables are trained.
            sent = [(tf.cast(gradient, self._dtype), variable) for gradient, variable in pairs]
            summed = optimizer._aggregate_gradients(sent)
            pairs = [(tf.cast(gradient, variable.dtype), variable) for gradient, variable in summed]
        pairs = [(_distinct(gradient), variable) for gradient, variable in pairs]
        if not (isinstance(optimizer, RowwiseAdagrad) and optimizer.trains_columns):
            pairs += [(self._filled(block), block.table) for block in blocks]
            blocks = []
        squares = [tf.reduce_sum(block.squares) for block in blocks]
        norm = tf.cond(
            tf.convert_to_tensor(measure_norm),
            lambda: tf.sqrt(
                tf.linalg.global_norm([gradient for gradient, _ in pairs]) ** 2 + sum(squares)
            ),
            lambda: tf.constant(float("nan")),
        )
        for block in blocks:
            update = optimizer.update_of_columns(block.own, block.table, squares=block.squares)
            owners = columns.owners(block.table.shape[1], self._replicas)
            columns.subtract(
                update, block.table, block.own.indices, replica=self._replica, owners=owners
            )
        optimizer.apply_gradients(pairs, experimental_aggregate_gradients=self._replicas == 1)
        return norm

    def _blocks(self, of_rows: Sequence[tf.Tensor]) -> list[_Block]:
        """Gradients of the tables that were read."""
        tables = {id(read.table): read.table for read in self._reads}
        values: dict[int, list[tf.Tensor]] = {key: [] for key in tables}
        ids: dict[int, list[tf.Tensor]] = {key: [] for key in tables}
        for read, gradient in zip(self._reads, of_rows, strict=True):
            values[id(read.table)].append(gradient)
            ids[id(read.table)].append(read.ids)
        own = [
            _distinct(tf.IndexedSlices(tf.concat(values[key], 0), tf.concat(ids[key], 0)))
            for key in tables
        ]
        squares = [square_sums(gradient.values) for gradient in own]
        of_all = self._context.all_reduce(tf.distribute.ReduceOp.SUM, squares)
        return [_Block(*block) for block in zip(tables.values(), own, squares, of_all, strict=True)]

    def _filled(self, block: _Block) -> tf.IndexedSlices:
        """Own columns of a gradient between numbers that fill each row up to its length.

        For optimizers that train whole rows, and clip by the norm of all gradients.
        """
        own, others = block.own, tf.maximum(block.squares - block.own_squares, 0)
        dim, width = block.table.shape[1], own.values.shape[1]
        first = tf.minimum(self._replica * width, dim)
        kept = own.values[:, : dim - first]  # nothing, if this replica has no columns
        number = dim - tf.shape(kept)[1]
        fill = tf.sqrt(others / tf.cast(tf.maximum(number, 1), tf.float32))[:, tf.newaxis]
        around = [tf.repeat(fill, times, axis=1) for times in (first, number - first)]
        rows = tf.ensure_shape(tf.concat([around[0], kept, around[1]], axis=1), [None, dim])
        return tf.IndexedSlices(rows, own.indices, tf.constant(block.table.shape.as_list()))

    def _all_to_all(self, rows: tf.Tensor) -> tf.Tensor:
        """Row i of this replica becomes its row of replica i: [replicas, ...]."""
        extended = self._context.strategy.extended
        devices = tuple(extended.worker_devices)
        if not extended._in_multi_worker_mode() or "GPU" in devices[0]:
            # TensorFlow's operation does not work within a process, and NCCL needs one order.
            of_all = self._gathered(rows[tf.newaxis])
            return of_all[:, self._replica]
        group = extended._collective_keys.get_group_key(devices)
        received = tf.raw_ops.CollectiveAllToAllV2(
            input=tf.cast(rows, self._dtype),
            group_size=self._replicas,
            group_key=group,
            instance_key=extended._collective_keys.get_instance_key(group, devices[0]),
            ordering_token=[],
        )
        return tf.cast(received, rows.dtype)

    def _gathered(self, rows: tf.Tensor) -> tf.Tensor:
        return self._context.all_gather(rows, axis=0)


def _distinct(gradient: Gradient) -> Gradient:
    """The gradient; rows of a table with one id become one, their sum."""
    if not isinstance(gradient, tf.IndexedSlices):
        return gradient
    different, positions = tf.unique(gradient.indices)
    summed = tf.cond(
        tf.size(different) == tf.size(gradient.indices),
        lambda: gradient.values,
        lambda: tf.math.unsorted_segment_sum(gradient.values, positions, tf.size(different)),
    )
    return tf.IndexedSlices(summed, different, gradient.dense_shape)

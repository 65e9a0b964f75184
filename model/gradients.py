"""Gradients of a step: those of tables row by row, and the sum over replicas.

Of a table, replicas do not exchange the gradients of rows, but what those follow from: the
gradient of the sums of vectors, a row a text, and the ids that were summed. Each replica makes the
rows of all from them. With 512 texts of 25 words and their character n-grams that is a
fifteenth of the bytes. Other gradients of tables (of a sequence encoder, of the words that an NLI
head reads, of n-grams that are dropped) are exchanged row by row.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple, TypeAlias

import tensorflow as tf
import tf_keras

from model.layers.embedding import Bags
from model.layers.encoders import POOL, Pooled

Gradient: TypeAlias = tf.Tensor | tf.IndexedSlices
Pairs: TypeAlias = list[tuple[Gradient, tf.Variable]]


class _Use(NamedTuple):
    """Sums of this replica's vectors, and the ids of all replicas."""

    pooled: Pooled
    bags: dict[str, Bags]
    count: tf.Tensor
    """Texts of all replicas."""
    sums: tf.Tensor


class Step:
    """The gradients of one step; called in replica context.

    `tape` records the forward pass:

        with tape, Step(tape).watching() as step:
            loss = ...
        pairs = step.gradients(loss, variables, optimizer)
    """

    def __init__(self, tape: tf.GradientTape):
        self._tape, self._uses = tape, list[_Use]()
        self._context = tf.distribute.get_replica_context()
        self._replicas = self._context.num_replicas_in_sync

    @contextmanager
    def watching(self) -> Iterator["Step"]:
        """Within, sums of vectors of tables are noted, if there are more replicas."""
        before = POOL.set(self._note if self._replicas > 1 else None)
        try:
            yield self
        finally:
            POOL.reset(before)

    def _note(self, pooled: Pooled, bags: dict[str, Bags], count: tf.Tensor) -> tf.Tensor:
        # Collectives run in this order: the ids are exchanged while sums are made.
        everywhere = self._bags_of_all(bags, count)
        sums = tf.stop_gradient(pooled(bags, count))
        self._tape.watch(sums)
        self._uses.append(_Use(pooled, everywhere, count * self._replicas, sums))
        return sums

    def _bags_of_all(self, bags: dict[str, Bags], count: tf.Tensor) -> dict[str, Bags]:
        """The replicas' texts one below the other; each replica has as many."""
        before = tf.cast(self._context.replica_id_in_sync_group, tf.int32) * count
        packed = [
            tf.stack([tf.fill(tf.shape(ids), kind), ids, tf.cast(texts, tf.int32) + before], axis=1)
            for kind, (ids, texts) in enumerate(bags.values())
        ]
        gathered = self._gathered(tf.concat(packed, axis=0))
        kinds, ids, texts = tf.unstack(gathered, num=3, axis=1)
        places = [tf.where(kinds == kind)[:, 0] for kind in range(len(bags))]
        return {
            name: Bags(tf.gather(ids, at), tf.cast(tf.gather(texts, at), tf.int64))
            for name, at in zip(bags, places, strict=True)
        }

    def gradients(
        self,
        loss: tf.Tensor,
        variables: Sequence[tf.Variable],
        optimizer: tf_keras.optimizers.legacy.Optimizer,
    ) -> Pairs:
        """Gradients of the sum of all replicas' losses, with the variables that have one.

        Each row of a table is at most once in them.
        """
        sums = [use.sums for use in self._uses]
        of_variables, of_sums = self._tape.gradient(loss, (list(variables), sums))
        pairs: Pairs = []
        for use, upstream in zip(self._uses, of_sums, strict=True):
            with tf.GradientTape() as tape:
                # Of these sums only what gradients need is computed.
                of_all = use.pooled(use.bags, use.count)
            found = tape.gradient(of_all, variables, output_gradients=self._gathered(upstream))
            pairs += _present(found, variables)
        own = _present(of_variables, variables)
        # While these are exchanged, rows of tables are summed and applied.
        pairs += optimizer._aggregate_gradients(own) if self._replicas > 1 else own
        by_variable: dict[int, list[Gradient]] = {}
        for gradient, variable in pairs:
            by_variable.setdefault(id(variable), []).append(gradient)
        return [
            (_added(by_variable[id(variable)]), variable)
            for variable in variables
            if id(variable) in by_variable
        ]

    def _gathered(self, rows: tf.Tensor) -> tf.Tensor:
        return self._context.all_gather(rows, axis=0)


def _present(gradients: Sequence[Gradient | None], variables: Sequence[tf.Variable]) -> Pairs:
    """Gradients with their variables; a task has none for another task's head."""
    both = zip(gradients, variables, strict=True)
    return [(gradient, variable) for gradient, variable in both if gradient is not None]


def _added(gradients: Sequence[Gradient]) -> Gradient:
    """The sum of gradients of one variable; rows of a table with one id become one."""
    if not isinstance(gradients[0], tf.IndexedSlices):
        return tf.add_n(gradients)
    indices = tf.concat([gradient.indices for gradient in gradients], axis=0)
    values = tf.concat([gradient.values for gradient in gradients], axis=0)
    different, positions = tf.unique(indices)
    summed = tf.cond(
        tf.size(different) == tf.size(indices),
        lambda: values,
        lambda: tf.math.unsorted_segment_sum(values, positions, tf.size(different)),
    )
    return tf.IndexedSlices(summed, different, gradients[0].dense_shape)

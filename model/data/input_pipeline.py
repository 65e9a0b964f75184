"""TFRecord files -> batches in training order, a pure function of the seed and the step.

The position in the data is not stored: it follows from the number of steps. Each epoch draws its
own order of the files, reads groups of files interleaved, and shuffles the records within windows
of `shuffle_buffer_size`. To continue at a position, whole groups are skipped unread, then at most
one group of records unparsed.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from common.errors import InputError
from model.data.task_sampler import Phase, TaskSampler
from model.data.tfrecords import Parse, Records, compression_of

FILES_AT_ONCE = 16
"""Files that are read interleaved."""


class Source(NamedTuple):
    """Training files that one input pipeline reads."""

    files: list[str]
    sizes: list[int]
    """Records of each file."""
    window: int
    files_at_once: int
    seed: int

    def shard(self, context: tf.distribute.InputContext) -> "Source":
        """Every n-th file, for one of n input pipelines, each with its own order.

        Raises:
          InputError: if there are more pipelines than files with records.
        """
        first, every = context.input_pipeline_id, context.num_input_pipelines
        files, sizes = self.files[first::every], self.sizes[first::every]
        if not sum(sizes):
            raise InputError(
                f"{len(self.files)} files from {self.files[0]!r} on are too few for {every} "
                "workers, each of which reads files of its own; write them in more shards"
            )
        return self._replace(files=files, sizes=sizes, seed=self.seed * 1_000_003 + first)

    def batches(self, position: int, phases: Sequence[Phase]) -> tf.data.Dataset:
        """Endless batches of records from record `position` on: string [batch].

        The batch sizes of the phases are those of this pipeline.
        """
        dataset = None
        for phase in phases:
            # A reader of its own, which starts when the phase before it ends.
            batches = self._windows(position).rebatch(phase.batch_size, drop_remainder=True)
            if phase.steps is not None:
                batches = batches.take(phase.steps)
                position += phase.steps * phase.batch_size
            dataset = batches if dataset is None else dataset.concatenate(batches)
        return dataset

    def _windows(self, position: int) -> tf.data.Dataset:
        """Shuffled windows from a position on; the first one without the records before it."""
        size = sum(self.sizes)
        first_epoch, behind = divmod(position, size)
        windows, within = divmod(behind, self.window)

        def of_epoch(number: tf.Tensor) -> tf.data.Dataset:
            def shuffled(window: tf.Tensor, serialized: tf.Tensor) -> tf.Tensor:
                return self._shuffled(serialized, number, window)

            skipped = tf.where(number == first_epoch, tf.constant(windows, tf.int64), 0)
            unshuffled = self._epoch(number, skipped * self.window).batch(self.window)
            return unshuffled.enumerate(skipped).map(shuffled, num_parallel_calls=1)

        endless = tf.data.Dataset.counter(first_epoch).flat_map(of_epoch)
        if within:
            first = endless.take(1).map(lambda serialized: serialized[within:])
            endless = first.concatenate(endless.skip(1))
        return endless.prefetch(1)

    def _shuffled(self, values: tf.Tensor, epoch: tf.Tensor, window: tf.Tensor | int) -> tf.Tensor:
        """Values in an order of their own in each window of an epoch; that of the files is -1."""
        seed = tf.stack([self.seed * 1_000_003 + tf.cast(epoch, tf.int64), window])
        return tf.random.experimental.stateless_shuffle(values, seed=seed)

    def _epoch(self, epoch: tf.Tensor, skipped: tf.Tensor) -> tf.data.Dataset:
        """The records of one epoch without the first `skipped`: string []."""
        order = self._shuffled(tf.range(len(self.files)), epoch, -1)
        files, sizes = tf.gather(self.files, order), tf.gather(self.sizes, order)
        ends = tf.cumsum(tf.cast(sizes, tf.int64))
        # The last group is never skipped.
        first_of_next = np.arange(self.files_at_once, len(self.files), self.files_at_once)
        group_ends = tf.gather(ends, first_of_next.astype(np.int32) - 1)
        groups = tf.reduce_sum(tf.cast(group_ends <= skipped, tf.int32))
        behind = tf.concat([[0], group_ends], axis=0)[groups]
        compression = compression_of(self.files)

        def side_by_side(group: tf.Tensor) -> tf.data.Dataset:
            return tf.data.Dataset.from_tensor_slices(group).interleave(
                lambda file: tf.data.TFRecordDataset(file, compression_type=compression),
                cycle_length=self.files_at_once,
                num_parallel_calls=tf.data.AUTOTUNE,
                deterministic=True,
            )

        return (
            tf.data.Dataset.from_tensor_slices(files[groups * self.files_at_once :])
            .batch(self.files_at_once)
            .flat_map(side_by_side)
            .skip(skipped - behind)
        )


def make_source(records: Records, *, seed: int) -> Source:
    """Counts the records of all files."""
    sizes = [records.count(file) for file in records.files]
    return Source(records.files, sizes, records.config.shuffle_buffer_size, FILES_AT_ONCE, seed)


def training_batches(
    source: Source,
    parse: Parse,
    *,
    sampler: TaskSampler,
    index: int,
    start: int,
    context: tf.distribute.InputContext,
) -> tf.data.Dataset:
    """Endless batches of one task, the sampler's `index`-th, for each replica of one worker.

    They begin `start` steps after the run, and have a replica's part of the global batch.
    """
    workers, replicas = context.num_input_pipelines, context.num_replicas_in_sync
    # A step takes a batch for each of the worker's replicas.
    phases = [
        Phase(steps and steps * (replicas // workers), context.get_per_replica_batch_size(size))
        for steps, size in sampler.phases(index, start)
    ]
    position = sampler.records(index, before=start) // workers
    return (
        source.shard(context)
        .batches(position, phases)
        .map(_unconverted(parse), num_parallel_calls=tf.data.AUTOTUNE)
        .prefetch(tf.data.AUTOTUNE)
        # Otherwise workers ask each other in every step whether all have a batch.
        .apply(tf.data.experimental.assert_cardinality(tf.data.INFINITE_CARDINALITY))
    )


def validation_batches(records: Records) -> tf.data.Dataset:
    """Batches of one pass, in order.

    A short last batch is dropped: among fewer responses the true one is easier to find.
    """
    return (
        records.serialized()
        .batch(
            records.config.global_batch_size,
            drop_remainder=True,
            num_parallel_calls=tf.data.AUTOTUNE,
        )
        .map(_unconverted(records.parse), num_parallel_calls=tf.data.AUTOTUNE)
        .prefetch(tf.data.AUTOTUNE)
    )


def _unconverted(parse: Parse) -> Parse:
    return tf.autograph.experimental.do_not_convert(parse)

"""Initial word vectors: directions from co-occurrence counts, lengths from word frequency.

With random vectors, training has to learn word by word that "dogs" is near "dog"; co-occurrence
counts give that before the first step (`model.initializers.cooccurrence`). In a sum of vectors of
equal length frequent words such as "the" dominate, so each vector is multiplied by a / (a + p),
where p is the share of the id among all tokens (SIF, Arora et al. 2017, section 3). Both are only
where training begins.
"""

from collections.abc import Iterator

import numpy as np
import tensorflow as tf
from official.core import base_task

from data_pipeline.pairs.tfrecord import INPUT, RESPONSE
from model.data import tfrecords
from model.dual_encoder import DualEncoder
from model.initializers import cooccurrence
from model.text import PADDING, WORDS

SIF_A = 1e-3
"""Arora et al.'s choice for all their tasks."""
_AT_ONCE = 1000


def begin(model: DualEncoder, task: base_task.Task) -> None:
    """Initialises the word vectors as the configuration says.

    Args:
      model: not trained yet.
      task: response selection, whose first training records are counted. Its configuration says
        how many of them, and the seed.
    """
    config = task.task_config
    table = model.encoder.tables[WORDS]
    rows = drawn = tf.convert_to_tensor(table).numpy()
    if config.word_cooccurrence_records:
        texts = _texts(task, config.word_cooccurrence_records)
        found = cooccurrence.vectors(texts, ids=len(drawn), dim=drawn.shape[1], seed=config.seed)
        lengths = np.linalg.norm(drawn, axis=1, keepdims=True)
        rows = np.where(found.any(axis=1, keepdims=True), found * lengths, drawn)
    if config.word_frequency_records:
        counts = count(task, config.word_frequency_records, ids=len(drawn))
        rows = rows * (SIF_A / (SIF_A + counts / max(counts.sum(), 1)))[:, np.newaxis]
    table.assign(_of_the_first_replica(tf.constant(rows, table.dtype)))


def count(task: base_task.Task, records: int, *, ids: int) -> np.ndarray:
    """Counts each word id in the first records: int64 [ids]."""
    counts = np.zeros(ids, np.int64)
    for texts in _texts(task, records):
        counts += np.bincount(texts.ravel(), minlength=ids)
    counts[PADDING] = 0
    return counts


def _texts(task: base_task.Task, records: int) -> Iterator[np.ndarray]:
    """Yields the word ids of both sides of the first records: int32 [texts, tokens] a batch."""
    files = tfrecords.find_files(f"{task.section}.train_data", task.task_config.train_data)
    for serialized in tfrecords.read_records(files).take(records).batch(_AT_ONCE):
        batch = task.parse(serialized)
        for side in (INPUT, RESPONSE):
            yield batch[side][WORDS].numpy()


def _of_the_first_replica(rows: tf.Tensor) -> tf.Tensor:
    """The first replica's rows on all replicas: processors of workers may round differently."""
    strategy = tf.distribute.get_strategy()
    if isinstance(strategy, tf.distribute.ParameterServerStrategy):
        return rows  # the chief alone gets here

    def mine() -> tf.Tensor:
        replica = tf.distribute.get_replica_context().replica_id_in_sync_group
        return rows * tf.cast(tf.equal(replica, 0), rows.dtype)

    return strategy.reduce(tf.distribute.ReduceOp.SUM, strategy.run(mine), axis=None)

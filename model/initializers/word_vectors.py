"""How word vectors begin: near those of words said among the same ones; short where frequent.

Vectors drawn at random know nothing: replies would have to teach that "dogs" is near "dog", word by
word. Co-occurrence, counted before the first step, knows it
(`model.initializers.cooccurrence`). And a sum of
vectors that are all equally long says little but how often "the" is in it; multiplied by
a / (a + p), p the share of the id among all (SIF, Arora et al. 2017, section 3), it says what rare
words it has, which a reply likes to take up. Training goes on from there.
"""

from collections.abc import Iterator

import numpy as np
import tensorflow as tf
from official.core import base_task

from data_pipeline.pairs.tfrecord import INPUT, RESPONSE
from model.data import tfrecords
from model.dual_encoder import DualEncoder
from model.initializers import cooccurrence
from model.text.preprocessing import PADDING, WORDS

SIF_A = 1e-3
"""Arora et al.'s choice for all their tasks."""
_AT_ONCE = 1000


def begin(model: DualEncoder, task: base_task.Task) -> None:
    """Gives the word vectors what the config asks for.

    Args:
      model: not trained yet.
      task: response selection; the first of its training records tell, its configuration says how
        many of them, and the seed.
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
    """How often each id of a word stands in the first records: int64 [ids]."""
    counts = np.zeros(ids, np.int64)
    for texts in _texts(task, records):
        counts += np.bincount(texts.ravel(), minlength=ids)
    counts[PADDING] = 0
    return counts


def _texts(task: base_task.Task, records: int) -> Iterator[np.ndarray]:
    """The words of both sides of the first records: int32 [texts, tokens], many times."""
    files = tfrecords.find_files(f"{task.section}.train_data", task.task_config.train_data)
    for serialized in tfrecords.read_records(files).take(records).batch(_AT_ONCE):
        batch = task.parse(serialized)
        for side in (INPUT, RESPONSE):
            yield batch[side][WORDS].numpy()


def _of_the_first_replica(rows: tf.Tensor) -> tf.Tensor:
    """The same rows everywhere, though workers' processors may have rounded otherwise."""
    strategy = tf.distribute.get_strategy()
    if isinstance(strategy, tf.distribute.ParameterServerStrategy):
        return rows  # the chief alone gets here

    def mine() -> tf.Tensor:
        replica = tf.distribute.get_replica_context().replica_id_in_sync_group
        return rows * tf.cast(tf.equal(replica, 0), rows.dtype)

    return strategy.reduce(tf.distribute.ReduceOp.SUM, strategy.run(mine), axis=None)

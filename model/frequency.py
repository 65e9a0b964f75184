"""Vectors of frequent words begin short, as SIF weighs them (Arora et al. 2017, section 3).

A sum of vectors that all begin equally long says little but how often "the" is in it. With
lengths a / (a + p), p how often the word is said, it begins as a projection of rare words, which
a reply likes to take up, and training goes on from there. Nothing of it is left in the module.
"""

import numpy as np
import tensorflow as tf

from data_pipeline.records import INPUT, RESPONSE
from model import record_files
from model.dual_encoder import DualEncoder
from model.tasks import Part
from model.text import PADDING, WORDS

A = 1e-3
"""Arora et al.'s choice for all their tasks."""
_AT_ONCE = 1000


def shorten(model: DualEncoder, part: Part, *, records: int) -> None:
    """Multiplies the vector of each word by its weight.

    Args:
      model: not trained yet.
      part: of response selection; the first of its training records tell how often words are.
      records: how many of them.
    """
    table = model.encoder.tables[WORDS]
    counts = count(part, records, ids=table.shape[0])
    weights = A / (A + counts / max(counts.sum(), 1))
    table.assign(table * tf.constant(weights[:, np.newaxis], table.dtype))


def count(part: Part, records: int, *, ids: int) -> np.ndarray:
    """How often each id of a word stands in the first records: int64 [ids]."""
    files = record_files.find_files(f"{part.where}.train_data", part.train_data)
    counts = np.zeros(ids, np.int64)
    for serialized in record_files.read_records(files).take(records).batch(_AT_ONCE):
        batch = part.task.parse(serialized)
        for side in (INPUT, RESPONSE):
            counts += np.bincount(batch[side][WORDS].numpy().ravel(), minlength=ids)
    counts[PADDING] = 0
    return counts

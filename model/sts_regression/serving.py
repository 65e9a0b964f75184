"""A trained regressor as a SavedModel: strings in, a score out; nothing of this project needed.

Signature `similarity`: string [batch] `sentences1` and `sentences2` -> float32 [batch] `score`, in
[0, 5]. A sentence without words and batches of different sizes fail with a line that says which.
"""

from pathlib import Path

import numpy as np
import tensorflow as tf
import tf_keras

from common.errors import InputError
from common.files import CLAIM, aside
from model.sts_regression.data import words
from model.sts_regression.data.vectors import PADDING, UNKNOWN, WordVectors
from model.sts_regression.layers import regressor as regressors

SIGNATURE = "similarity"
FILES = ("saved_model.pb", "fingerprint.pb", "variables", "assets", CLAIM)
"""All that a regressor's folder may hold."""
_TEXTS = tuple(tf.TensorSpec([None], tf.string, name=f"sentences{side}") for side in (1, 2))


class Similarity(tf.Module):
    """A regressor on strings."""

    def __init__(self, regressor: tf_keras.Model, vectors: WordVectors):
        super().__init__(name="similarity")
        self._kept = regressor.variables  # without the model, whose Keras layers need not be saved
        rows = np.arange(UNKNOWN + 1, UNKNOWN + 1 + len(vectors.words), dtype=np.int64)
        entries = tf.lookup.KeyValueTensorInitializer(tf.constant(vectors.words), rows)
        self._rows = tf.lookup.StaticHashTable(entries, default_value=UNKNOWN)
        scorer = regressors.scorer(regressor)

        @tf.function(input_signature=_TEXTS, autograph=False)
        def similarity(sentences1: tf.Tensor, sentences2: tf.Tensor) -> dict[str, tf.Tensor]:
            sizes = [tf.shape(sentences1)[0], tf.shape(sentences2)[0]]
            same = tf.debugging.Assert(
                tf.equal(*sizes), ["sentences1 and sentences2 differ in number:", *sizes]
            )
            with tf.control_dependencies([same]):
                ids = [self._ids(sentences1, "sentences1"), self._ids(sentences2, "sentences2")]
            return {"score": scorer(ids)}

        self.similarity = similarity
        """Strings [batch] twice -> `score`: float32 [batch], in [0, 5]."""

    def _ids(self, sentences: tf.Tensor, name: str) -> tf.Tensor:
        """String [batch] -> int32 [batch, words]."""
        found = words.split(sentences)
        empty = found.row_lengths() == 0
        some = tf.debugging.Assert(
            tf.logical_not(tf.reduce_any(empty)),
            [f"{name}: no words in the sentences at", tf.where(empty)[:, 0]],
        )
        with tf.control_dependencies([some]):
            as_is = self._rows.lookup(found.flat_values)
        lower = self._rows.lookup(tf.strings.lower(found.flat_values, encoding="utf-8"))
        rows = tf.where(as_is == UNKNOWN, lower, as_is)
        return tf.cast(found.with_flat_values(rows).to_tensor(PADDING), tf.int32)


def require_replaceable(path: Path) -> None:
    """Raises InputError if a folder holds anything but a regressor."""
    for name in sorted(file.name for file in path.iterdir()):
        if name not in FILES:
            raise InputError(
                f"--output: {path} holds {name!r}, which is not part of a regressor; name another "
                "folder"
            )


def write(path: Path, regressor: tf_keras.Model, vectors: WordVectors) -> None:
    """Writes the SavedModel in place of what is there."""
    module = Similarity(regressor, vectors)
    with aside(path) as new:
        tf.saved_model.save(module, str(new), signatures={SIGNATURE: module.similarity})

"""A trained regressor as a SavedModel: strings in, a score out; nothing of this project needed.

Signature `similarity`: string [batch] `sentences1` and `sentences2` -> float32 [batch] `score`, in
[0, 5]. A sentence without words, or batches of two sizes, fail with a line that says which.
"""

import os
import shutil
from pathlib import Path

import numpy as np
import tensorflow as tf

from model.errors import InputError
from model.sts_regression.data import words
from model.sts_regression.data.vectors import PADDING, UNKNOWN, WordVectors
from model.sts_regression.layers.regressor import Regressor

_TEXTS = (
    tf.TensorSpec([None], tf.string, name="sentences1"),
    tf.TensorSpec([None], tf.string, name="sentences2"),
)


class Similarity(tf.Module):
    """The regressor behind its words."""

    def __init__(self, regressor: Regressor, vectors: WordVectors):
        super().__init__(name="similarity")
        self._regressor = regressor
        rows = np.arange(UNKNOWN + 1, UNKNOWN + 1 + len(vectors.words), dtype=np.int64)
        entries = tf.lookup.KeyValueTensorInitializer(tf.constant(vectors.words), rows)
        self._rows = tf.lookup.StaticHashTable(entries, default_value=UNKNOWN)

    @tf.function(input_signature=_TEXTS)
    def similarity(self, sentences1: tf.Tensor, sentences2: tf.Tensor) -> dict[str, tf.Tensor]:
        """Strings [batch] twice -> `score`: float32 [batch], in [0, 5]."""
        sizes = [tf.shape(sentences1)[0], tf.shape(sentences2)[0]]
        same = tf.debugging.Assert(
            tf.equal(*sizes), ["sentences1 and sentences2 differ in number:", *sizes]
        )
        with tf.control_dependencies([same]):
            ids = [
                self._ids(texts, name)
                for texts, name in ((sentences1, "sentences1"), (sentences2, "sentences2"))
            ]
        return {"score": self._regressor.score(*ids)}

    def _ids(self, sentences: tf.Tensor, name: str) -> tf.Tensor:
        """int32 [batch, words]."""
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


def check(path: Path) -> None:
    """Looks at where a SavedModel is to be, before anything is trained for it.

    Raises:
      InputError: if another kind of file or folder is there.
    """
    if path.exists() and not (path / "saved_model.pb").is_file():
        raise InputError(f"{path}: is there already, and is no SavedModel")


def write(path: Path, regressor: Regressor, vectors: WordVectors) -> None:
    """Writes the SavedModel aside and renames it.

    Raises:
      InputError: if another kind of file or folder is there, or it cannot be written.
    """
    check(path)
    aside, before = (path.with_name(f".{path.name}.{os.getpid()}.{end}") for end in ("new", "old"))
    module = Similarity(regressor, vectors)
    try:
        tf.saved_model.save(module, str(aside), signatures={"similarity": module.similarity})
        if path.exists():
            path.rename(before)
        try:
            aside.rename(path)
        except OSError:
            if before.exists():
                before.rename(path)
            raise
    except tf.errors.OpError as error:
        raise InputError(f"{path}: cannot be written ({error.message})") from error
    finally:
        for folder in (aside, before):
            shutil.rmtree(folder, ignore_errors=True)

"""A trained regressor as a SavedModel: strings in, a score out; nothing of this project needed.

Signature `similarity`: string [batch] `sentences1` and `sentences2` -> float32 [batch] `score`, in
[0, 5]. A sentence without words and batches of different sizes fail with a line that says which.
"""

import numpy as np
import tensorflow as tf
import tf_keras

from common.errors import InputError
from common.files import CLAIM, aside, claim
from model.sts_regression import regressor as regressors
from model.sts_regression.data import prepare
from model.sts_regression.experiments import TABLE_2
from model.sts_regression.options import ExportOptions
from model.sts_regression.words import PADDING, UNKNOWN, WordVectors, split

SIGNATURE = "similarity"
FIRST_WORDS = 50_000
"""Of the vectors' file, which a SavedModel keeps besides those of the data."""
_FILES = ("saved_model.pb", "fingerprint.pb", "variables", "assets", CLAIM)
"""All that a regressor's folder may hold."""
_TEXTS = tuple(tf.TensorSpec([None], tf.string, name=f"sentences{side}") for side in (1, 2))


def export(options: ExportOptions) -> None:
    """Trains a row on all training pairs, and writes the SavedModel in place of what is there.

    Raises:
      InputError: if the folder holds anything but a regressor, or training diverges.
    """
    output, settings, experiment = options.output, options.settings(), TABLE_2[options.row]
    with claim(output):
        for path in sorted(output.iterdir()):
            if path.name not in _FILES:
                raise InputError(
                    f"--output: {path} is not part of a regressor; name another folder"
                )
        prepared = prepare(
            options.data, settings, vectors_path=options.vectors, first_words=FIRST_WORDS
        )
        print(prepared.summary())
        pairs, vectors, seed = prepared.corpus, prepared.vectors, settings.seed
        regressor = regressors.build(
            experiment, settings, table=vectors.table, training=pairs.sentences(), seed=seed
        )
        epochs = settings.epochs(experiment.epochs)
        regressors.train(regressor, pairs, settings, epochs=epochs, seed=seed)
        module = Similarity(regressor, vectors)
        with aside(output) as new:
            tf.saved_model.save(module, str(new), signatures={SIGNATURE: module.similarity})
    print(f"-> {output}")


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
        words = split(sentences)
        empty = words.row_lengths() == 0
        some = tf.debugging.Assert(
            tf.logical_not(tf.reduce_any(empty)),
            [f"{name}: no words in the sentences at", tf.where(empty)[:, 0]],
        )
        with tf.control_dependencies([some]):
            as_is = self._rows.lookup(words.flat_values)
        lower = self._rows.lookup(tf.strings.lower(words.flat_values, encoding="utf-8"))
        rows = tf.where(as_is == UNKNOWN, lower, as_is)
        return tf.cast(words.with_flat_values(rows).to_tensor(PADDING), tf.int32)

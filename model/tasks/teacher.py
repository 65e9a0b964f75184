"""A teacher: the embeddings that a strong encoder gives to unlabelled texts are learned."""

from typing import Any

import tensorflow as tf

from model import losses
from model.configs import schema
from model.data.tfrecords import Records
from model.dual_encoder import DualEncoder
from model.tasks.pair_task import PairTask
from model.teacher import targets

_STRING = tf.io.FixedLenFeature([], tf.string)
_TARGET = {targets.TEXT: _STRING, targets.EMBEDDING: _STRING}


class TeacherTask(PairTask):
    """Trains the sentence embedding to be the teacher's.

    A batch has the ids of `text`, and `embedding`, the teacher's: float32 [batch, teacher's dim].
    """

    name = schema.TEACHER
    metrics = ("teacher_loss", "teacher_cosine")
    """The loss once more, so that a multitask run reports it by a name of its own, and the mean
    cosine of the student's and the teacher's embedding of a text."""
    main = "teacher_cosine"

    def parse(self, serialized: tf.Tensor) -> dict[str, Any]:
        """Texts with their targets, string [batch] -> a batch."""
        features = tf.io.parse_example(serialized, _TARGET)
        embeddings = tf.io.decode_raw(features[targets.EMBEDDING], tf.float16)
        return {
            targets.TEXT: self.text(features[targets.TEXT]),
            targets.EMBEDDING: tf.cast(embeddings, tf.float32),
        }

    def check(self, records: Records) -> dict[str, Any]:
        """Also raises InputError unless the first embeddings of all files have one width."""
        firsts = super().check(records)
        file_of: dict[int, str] = {}
        for file, batch in firsts.items():
            file_of.setdefault(batch[targets.EMBEDDING].shape[1], file)
        if len(file_of) > 1:
            found = " and ".join(f"{width} numbers in {file!r}" for width, file in file_of.items())
            raise records.error(f"embeddings of {found}; accepted: the output of one encoder")
        return firsts

    def measure(
        self, model: DualEncoder, batch: dict[str, Any], *, training: bool
    ) -> dict[str, tf.Tensor]:
        """Softmax over the batch's targets, plus the weighted parts beside it."""
        objective = self.objective
        student = tf.cast(model.encode_inputs(batch[targets.TEXT], training=training), tf.float32)
        teacher = fitted(batch[targets.EMBEDDING], dim=student.shape[-1])
        encoded = losses.Encoded(student, teacher, tf.constant(objective.scale))
        scored = losses.in_batch_softmax(encoded, schema.Objective())
        cosine = tf.reduce_mean(tf.reduce_sum(student * teacher, axis=1))
        loss = scored.loss + objective.cosine_weight * (1 - cosine)
        if objective.matrix_weight:
            loss += objective.matrix_weight * losses.matrix_cross_entropy(
                student, batch[targets.EMBEDDING], scale=objective.scale
            )
        return {self.loss: loss} | dict(zip(self.metrics, (loss, cosine), strict=True))


def fitted(embeddings: tf.Tensor, *, dim: int) -> tf.Tensor:
    """A teacher's embeddings in the student's width, so that the student learns them as they are.

    A wider student gets zeros behind them, which change no cosine. A narrower one gets their first
    numbers, whose cosines are nearly those of all (Takeshita et al. 2025, arXiv 2508.17744).
    float32 [batch, teacher's dim] -> float32 [batch, dim], of unit length.
    """
    first = embeddings[:, :dim]
    missing = dim - tf.shape(first)[1]
    return tf.ensure_shape(
        tf.pad(tf.math.l2_normalize(first, axis=-1), [[0, 0], [0, missing]]), [None, dim]
    )

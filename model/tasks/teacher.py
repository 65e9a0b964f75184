"""A teacher: the embeddings that a strong encoder gives to unlabelled texts are learned."""

from typing import Any

import numpy as np
import tensorflow as tf
from official.core import task_factory

from model.configs import schema
from model.dual_encoder import DualEncoder
from model.tasks import losses
from model.tasks.pair_task import PairTask, strings
from model.teacher import targets

_STRING = tf.io.FixedLenFeature([], tf.string)
_TARGET = {targets.TEXT: _STRING, targets.EMBEDDING: _STRING}
_TEXT = {targets.TEXT: _STRING}
_MISTAKES = 10


@task_factory.register_task_cls(schema.Distillation)
class TeacherTask(PairTask):
    """Trains the sentence embedding to be the teacher's.

    A batch has the ids of `text`, and `embedding`, the teacher's: float32 [batch, teacher's dim].
    """

    id_feature = targets.TEXT_ID
    metrics = ("teacher_loss", "teacher_cosine")
    """The loss once more, so that a multitask run reports it by a name of its own, and the mean
    cosine of the student's and the teacher's embedding of a text."""

    def __init__(self, params: schema.Distillation, *args: Any, **kwargs: Any):
        super().__init__(params, *args, **{"name": schema.TEACHER} | kwargs)

    def parse(self, serialized: tf.Tensor) -> dict[str, Any]:
        """Texts with their targets, string [batch] -> a batch."""
        features = tf.io.parse_example(serialized, _TARGET)
        embeddings = tf.io.decode_raw(features[targets.EMBEDDING], tf.float16)
        return {
            targets.TEXT: self.text(features[targets.TEXT]),
            targets.EMBEDDING: tf.cast(embeddings, tf.float32),
        }

    def forward(self, model: DualEncoder, batch: dict[str, Any], *, training: bool) -> tf.Tensor:
        """The student's embeddings: float32 [batch, embedding_dim]."""
        return model.encode_inputs(batch[targets.TEXT], training=training)

    def measure(
        self, batch: dict[str, Any], outputs: tf.Tensor, *, training: bool
    ) -> dict[str, tf.Tensor]:
        """Softmax over the batch's targets, plus the weighted cosine distance to the own one."""
        del training
        objective = self.task_config.objective
        student = tf.cast(outputs, tf.float32)
        teacher = padded(batch[targets.EMBEDDING], width=tf.shape(student)[1])
        encoded = losses.Encoded(student, teacher, tf.constant(objective.scale))
        scored = losses.in_batch_softmax(encoded, schema.Objective())
        cosine = tf.reduce_mean(tf.reduce_sum(student * teacher, axis=1))
        loss = scored.loss + objective.cosine_weight * (1 - cosine)
        return {self.loss: loss} | dict(zip(self.metrics, (loss, cosine), strict=True))

    def mistakes(
        self, model: DualEncoder, serialized: tf.Tensor, batch: dict[str, Any]
    ) -> list[str]:
        """The texts whose embedding is farthest from the teacher's."""
        student = self.forward(model, batch, training=False)
        teacher = padded(batch[targets.EMBEDDING], width=tf.shape(student)[1])
        cosines = tf.reduce_sum(student * teacher, axis=1).numpy()
        texts = strings(serialized, _TEXT)[targets.TEXT]
        return [
            f"**{texts[row]}**  \ncosine {cosines[row]:.2f}"
            for row in np.argsort(cosines, kind="stable")[:_MISTAKES]
        ]


def padded(embeddings: tf.Tensor, *, width: tf.Tensor) -> tf.Tensor:
    """A teacher's embeddings in a wider space, where their dot products are the same.

    Args:
      embeddings: float32 [batch, dim], of about unit length, as half floats round.
      width: the student's dim, at least as large: int32 scalar.

    Returns:
      Of unit length, zeros behind the teacher's numbers: float32 [batch, width].
    """
    unit = tf.math.l2_normalize(embeddings, axis=-1)
    return tf.pad(unit, [[0, 0], [0, width - tf.shape(unit)[1]]])

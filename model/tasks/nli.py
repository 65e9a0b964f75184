"""NLI, natural language inference: does the premise entail the hypothesis (section 2.4)."""

from typing import Any

import tensorflow as tf

from common import tfrecord
from model import losses
from model.configs import schema
from model.dual_encoder import DualEncoder
from model.tasks.pair_task import PairTask

_STRING = tf.io.FixedLenFeature([], tf.string)
_PAIR = {
    tfrecord.PREMISE: _STRING,
    tfrecord.HYPOTHESIS: _STRING,
    tfrecord.LABEL: tf.io.FixedLenFeature([], tf.int64),
}


class NliTask(PairTask):
    """Trains on labelled sentence pairs.

    A batch has the ids of `premise` and `hypothesis`, and `label`: int64 [batch].
    """

    name = schema.NLI
    metrics = ("nli_loss", "nli_accuracy")
    """The loss once more, so that a multitask run reports it by a name of its own."""
    main = "nli_accuracy"

    def parse(self, serialized: tf.Tensor) -> dict[str, Any]:
        """NLI pairs, string [batch] -> a batch."""
        features = tf.io.parse_example(serialized, _PAIR)
        labels, known = features[tfrecord.LABEL], len(tfrecord.LABELS)
        tf.debugging.Assert(
            tf.reduce_all((labels >= 0) & (labels < known)),
            [f"a label is not one of 0 to {known - 1}"],
        )
        texts = {
            name: self.text(features[name]) for name in (tfrecord.PREMISE, tfrecord.HYPOTHESIS)
        }
        return texts | {tfrecord.LABEL: labels}

    def measure(
        self, model: DualEncoder, batch: dict[str, Any], *, training: bool
    ) -> dict[str, tf.Tensor]:
        """Cross-entropy and accuracy; in training the labels are smoothed, and the softmax over
        entailed hypotheses is added to the loss that is minimized.
        """
        premises, hypotheses = batch[tfrecord.PREMISE], batch[tfrecord.HYPOTHESIS]
        outputs = model.compare(premises, hypotheses, training=training)
        labels, objective = batch[tfrecord.LABEL], self.objective
        smoothing = self.params.model.nli.label_smoothing if training else 0.0
        classified = losses.nli_softmax(outputs.logits, labels, smoothing=smoothing)
        loss = classified.loss
        if training and objective.entailment_weight:
            scale = tf.constant(objective.scale)
            ranked = losses.in_batch_softmax(
                losses.Encoded(outputs.premises, outputs.hypotheses, scale),
                schema.Objective(both_directions=True),
                counted=tf.equal(labels, tfrecord.LABELS.index("entailment")),
            )
            loss += objective.entailment_weight * ranked.loss
        return {self.loss: loss} | dict(zip(self.metrics, classified, strict=True))

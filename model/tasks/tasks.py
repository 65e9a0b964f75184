"""What a batch of each task is made of, and its loss."""

from typing import Any, NamedTuple, Protocol

import numpy as np
import tensorflow as tf

from data_pipeline.pairs import tfrecord
from model.configs import schema
from model.dual_encoder import DualEncoder
from model.layers import nli_head
from model.tasks import losses
from model.text.preprocessing import TextToIds

_STRING = tf.io.FixedLenFeature([], tf.string)
_PAIR = {tfrecord.INPUT: _STRING, tfrecord.RESPONSE: _STRING}
RESPONSE = {tfrecord.RESPONSE: _STRING}
"""Of a pair its response alone, for `tf.io.parse_example`."""
_NLI_PAIR = {
    tfrecord.PREMISE: _STRING,
    tfrecord.HYPOTHESIS: _STRING,
    tfrecord.LABEL: tf.io.FixedLenFeature([], tf.int64),
}
_KEYS = 2**62
"""Texts are told apart by hashes below this."""
_AT = (1, 3, 10)
_MISTAKES = 10


class Outcome(NamedTuple):
    """What became of one batch on one replica."""

    loss: tf.Tensor
    """float32 scalar, the mean over the replica's records."""
    metrics: dict[str, tf.Tensor]
    """float32 scalars, means over the replica's records."""


class Task(Protocol):
    """One of the things that an encoder is trained for."""

    name: str
    id_feature: str
    """The feature of a record that tells it from others."""
    metrics: tuple[str, ...]
    """Names of the metrics of an `Outcome`."""
    text: TextToIds

    def parse(self, serialized: tf.Tensor) -> dict[str, Any]:
        """Records, string [batch] -> a batch for `outcome`, its text as ids."""

    def outcome(self, model: DualEncoder, batch: dict[str, Any], *, training: bool) -> Outcome:
        """Loss and metrics of a batch; in replica context."""

    def mistakes(
        self, model: DualEncoder, serialized: tf.Tensor, batch: dict[str, Any]
    ) -> list[str]:
        """Lines of Markdown on some records of a batch that the model gets wrong."""


class ResponseSelection:
    """Picking the true response among the responses of the batch (section 2.1).

    A batch is `input` and `response`, ids, with `input_key` and `response_key`, int64 [batch].
    """

    name = schema.RESPONSE_SELECTION
    id_feature = tfrecord.RESPONSE_ID
    metrics: tuple[str, ...] = ("p_at_1", "p_at_3", "p_at_10")
    """How often the true response is among the 1, 3 or 10 of the batch that score highest."""

    def __init__(self, text: TextToIds, objective: schema.Objective):
        self.text = text
        self._objective = objective

    def parse(self, serialized: tf.Tensor) -> dict[str, Any]:
        """Pairs, string [batch] -> a batch."""
        strings = tf.io.parse_example(serialized, _PAIR)
        ids = {name: self.text(strings[name]) for name in _PAIR}
        keys = {
            f"{name}_key": tf.strings.to_hash_bucket_fast(strings[name], _KEYS) for name in _PAIR
        }
        return ids | keys

    def outcome(self, model: DualEncoder, batch: dict[str, Any], *, training: bool) -> Outcome:
        """Loss and P@N; what makes training harder is no part of a validation."""
        objective = self._objective if training else schema.Objective()
        keys = losses.Keys(batch[f"{tfrecord.INPUT}_key"], batch[f"{tfrecord.RESPONSE}_key"])
        scored = losses.in_batch_softmax(model(batch, training=training), objective, keys=keys)
        places = losses.places(scored)
        precisions = [tf.reduce_mean(tf.cast(places < at, tf.float32)) for at in _AT]
        return Outcome(scored.loss, dict(zip(self.metrics, precisions, strict=True)))

    def mistakes(
        self, model: DualEncoder, serialized: tf.Tensor, batch: dict[str, Any]
    ) -> list[str]:
        """The inputs whose true response stands last of all."""
        scored = losses.in_batch_softmax(model(batch), schema.Objective())
        places, preferred = losses.places(scored).numpy(), np.argmax(scored.scores, axis=1)
        strings = _strings(serialized, _PAIR)
        return [
            f"**{strings[tfrecord.INPUT][row]}**  \n"
            f"true, place {places[row] + 1}: {strings[tfrecord.RESPONSE][row]}  \n"
            f"preferred: {strings[tfrecord.RESPONSE][preferred[row]]}"
            for row in np.argsort(-places, kind="stable")[:_MISTAKES]
            if places[row]
        ]


class Inference:
    """Natural language inference: does the premise entail the hypothesis (section 2.4).

    A batch is `premise` and `hypothesis`, ids, and `label`, int64 [batch]. Validation shows the
    loss that is not smoothed, whatever training does.
    """

    name = schema.INFERENCE
    id_feature = tfrecord.PAIR_ID
    metrics: tuple[str, ...] = ("nli_loss", "nli_accuracy")

    def __init__(self, text: TextToIds, config: schema.Nli):
        self.text = text
        self._smoothing = config.label_smoothing

    def parse(self, serialized: tf.Tensor) -> dict[str, Any]:
        """NLI pairs, string [batch] -> a batch."""
        features = tf.io.parse_example(serialized, _NLI_PAIR)
        return {
            tfrecord.PREMISE: self.text(features[tfrecord.PREMISE]),
            tfrecord.HYPOTHESIS: self.text(features[tfrecord.HYPOTHESIS]),
            tfrecord.LABEL: features[tfrecord.LABEL],
        }

    def outcome(self, model: DualEncoder, batch: dict[str, Any], *, training: bool) -> Outcome:
        """Cross-entropy and accuracy."""
        logits = self._logits(model, batch, training=training)
        smoothing = self._smoothing if training else 0.0
        classified = nli_head.nli_softmax(logits, batch[tfrecord.LABEL], smoothing=smoothing)
        return Outcome(classified.loss, dict(zip(self.metrics, classified, strict=True)))

    def mistakes(
        self, model: DualEncoder, serialized: tf.Tensor, batch: dict[str, Any]
    ) -> list[str]:
        """The first pairs that the model labels otherwise than people."""
        logits = self._logits(model, batch, training=False)
        found, gold = (
            np.argmax(nli_head.probabilities(logits), axis=1),
            batch[tfrecord.LABEL].numpy(),
        )
        strings = _strings(serialized, _NLI_PAIR)
        return [
            f"**{strings[tfrecord.PREMISE][row]}**  \n{strings[tfrecord.HYPOTHESIS][row]}  \n"
            f"{tfrecord.LABELS[gold[row]]}, taken for {tfrecord.LABELS[found[row]]}"
            for row in np.flatnonzero(found != gold)[:_MISTAKES]
        ]

    def _logits(self, model: DualEncoder, batch: dict[str, Any], *, training: bool) -> tf.Tensor:
        return model.classify(
            batch[tfrecord.PREMISE], batch[tfrecord.HYPOTHESIS], training=training
        )


def _strings(serialized: tf.Tensor, spec: dict[str, tf.io.FixedLenFeature]) -> dict[str, list[str]]:
    features = tf.io.parse_example(serialized, spec)
    return {
        name: [value.decode(errors="replace") for value in features[name].numpy()]
        for name, kind in spec.items()
        if kind.dtype == tf.string
    }


class Part(NamedTuple):
    """A task with its data."""

    task: Task
    train_data: schema.Data
    validation_data: schema.Data
    where: str
    """Where its data stand in the parameters, such as `task` or `task.nli`."""


def parts_of(config: schema.Training) -> list[Part]:
    """The tasks of a run: one, or response selection and then inference."""
    text = TextToIds(**config.model.text.as_dict())
    inference = Inference(text, config.model.nli)
    own = (config.train_data, config.validation_data, "task")
    if isinstance(config, schema.Inference):
        return [Part(inference, *own)]
    if not isinstance(config, schema.ResponseSelection):
        raise TypeError(f"{type(config).__name__} is no task of this project")
    parts = [Part(ResponseSelection(text, config.objective), *own)]
    if isinstance(config, schema.Multitask):
        data = config.nli
        parts.append(Part(inference, data.train_data, data.validation_data, "task.nli"))
    return parts

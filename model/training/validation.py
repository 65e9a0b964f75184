"""What a model can do so far: P@N on held-out pairs, accuracy on NLI, correlation on STS.

Done by one replica of each worker, outside of the strategy: no worker waits for another.
"""

from collections.abc import Callable

import numpy as np
import orbit
import tensorflow as tf

from model.data import input_pipeline
from model.dual_encoder import DualEncoder
from model.tasks.tasks import Part
from model.training.ema import WeightAverage
from model.training.learning import Learning
from model.training.sts import StsPairs


class Validator(orbit.AbstractEvaluator):
    """Validates the tasks of a run, and on STS where a file is given."""

    def __init__(
        self,
        parts: list[Part],
        *,
        model: DualEncoder,
        average: WeightAverage,
        sts: StsPairs | None,
        learning: Learning,
        then: Callable[[dict[str, float]], None] | None,
    ):
        self._model = model
        self._average = average
        self._sts = sts
        self._learning = learning
        self._then = then
        self._parts = [(part, input_pipeline.validation_batches(part)) for part in parts]
        self._outcomes = [self._make_outcome(part) for part in parts]

    def evaluate(self, num_steps: tf.Tensor) -> dict[str, float]:
        """Validates the average of the weights where one is kept, else the weights.

        Args:
          num_steps: how many batches of each task; -1 for all.

        Returns:
          Means over the batches: `validation_loss` (of the first task), the tasks' metrics; and
          `sts_dev_pearson`.
        """
        logs: dict[str, float] = {}
        with self._average.in_place():
            for (part, dataset), outcome in zip(self._parts, self._outcomes, strict=True):
                values = [outcome(batch).numpy() for _, batch in dataset.take(int(num_steps))]
                names = ["validation_loss", *part.task.metrics]
                means = dict(zip(names, map(float, np.mean(values, axis=0)), strict=True))
                logs = means | logs
                self._look_at_one_batch(part, dataset)
            if self._sts is not None:
                logs["sts_dev_pearson"] = self._sts.pearson(self._model)
        said = ", ".join(f"{name} {value:.4f}" for name, value in logs.items())
        print(f"validation: {said}")
        if self._then is not None:
            self._then(logs)
        return logs

    def _make_outcome(self, part: Part) -> Callable[[dict], tf.Tensor]:
        @tf.function(reduce_retracing=True)
        def outcome(batch: dict) -> tf.Tensor:
            found = part.task.outcome(self._model, batch, training=False)
            return tf.stack([found.loss, *(found.metrics[name] for name in part.task.metrics)])

        return outcome

    def _look_at_one_batch(self, part: Part, dataset: tf.data.Dataset) -> None:
        for serialized, batch in dataset.take(1):
            sentences = next(ids for ids in batch.values() if isinstance(ids, dict))
            self._learning.validated(sentences, self._model.encode_inputs(sentences).numpy())
            lines = part.task.mistakes(self._model, serialized, batch)
            tf.summary.text(f"mistakes/{part.task.name}", "\n\n".join(lines))

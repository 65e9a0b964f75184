"""Validation: P@N on held-out pairs, accuracy on NLI, Pearson's r on STS.

Each worker validates on one replica, outside the strategy: no worker waits for another.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import orbit
import tensorflow as tf
from scipy import stats

from common import sts
from model.data import input_pipeline
from model.dual_encoder import DualEncoder
from model.errors import StoppedError
from model.tasks.pair_task import PairTask
from model.training.monitoring import collapse
from model.training.state import Run


class Validator(orbit.AbstractEvaluator):
    """Validates the tasks of a run, and STS if a file is given."""

    def __init__(self, run: Run):
        self._run, self._model = run, run.state.model
        self.failure = ""
        """Why the model is of no use, by the last validation; empty if it is."""
        self._batches = [input_pipeline.validation_batches(task.validation) for task in run.tasks]
        self._steps = [self._make_step(task) for task in run.tasks]
        self._sts: Sequence[sts.Pair] = ()
        if path := run.params.task.sts_dev:
            self._sts = sts.read(sts.sources(Path(path))[0]).pairs

    def evaluate(self, num_steps: tf.Tensor) -> dict[str, float]:
        """Validates the average of the weights if one is kept, otherwise the weights.

        On `num_steps` batches of each task; -1 for all.

        Returns:
          Means over the batches: `validation_loss` (of the first task), the tasks' metrics; and
          `sts_dev_pearson`.

        Raises:
          StoppedError: if a signal to stop has arrived.
          InputError: if a record cannot be read.
        """
        logs: dict[str, float] = {}
        self.failure = ""
        self._run.columns.synchronize(self._run.step)
        with self._run.state.average.in_place():
            for task, batches, step in zip(
                self._run.tasks, self._batches, self._steps, strict=True
            ):
                values = self._measured(task, batches.take(int(num_steps)), step)
                names = ["validation_loss", *task.metrics]
                logs = dict(zip(names, np.mean(values, axis=0).tolist(), strict=True)) | logs
            if self._sts:
                logs["sts_dev_pearson"] = pearson(self._model, self._sts)
        print(f"validation: {', '.join(f'{name} {value:.4f}' for name, value in logs.items())}")
        if self.failure:
            self.failure += f" at step {self._run.step}; a lower rate may help"
            print(f"warning: {self.failure}")
        return logs

    def _measured(
        self, task: PairTask, batches: tf.data.Dataset, step: Callable[[dict], tf.Tensor]
    ) -> list[np.ndarray]:
        """Loss and metrics of each batch, float32 [1 + metrics]; whether embeddings collapsed."""
        values: list[np.ndarray] = []
        # Several workers save together: those stop at a step that they agree on.
        in_cluster = self._run.strategy.extended._in_multi_worker_mode()
        try:
            for batch in batches:
                if not values:
                    sentences = next(ids for ids in batch.values() if isinstance(ids, dict))
                    embeddings = self._model.encode_inputs(sentences).numpy()
                    self.failure = self.failure or collapse(sentences, embeddings)
                values.append(step(batch).numpy())
                if self._run.signals.stop is not None and not in_cluster:
                    raise StoppedError(self._run.signals.stop)
        except tf.errors.OpError as error:
            raise task.validation.damage() or error from error
        return values

    def _make_step(self, task: PairTask) -> Callable[[dict], tf.Tensor]:
        @tf.function(autograph=False, reduce_retracing=True)
        def step(batch: dict) -> tf.Tensor:
            logs = task.measure(self._model, batch, training=False)
            return tf.stack([logs[name] for name in (task.loss, *task.metrics)])

        return step


def pearson(model: DualEncoder, pairs: Sequence[sts.Pair]) -> float:
    """Pearson's r between -arccos(cosine) and the gold scores (section 4.3).

    `python -m evaluation sts` is the full evaluation.
    """
    texts = zip(*((pair.sentence1, pair.sentence2) for pair in pairs), strict=True)
    first, second = map(model.encode, texts)
    cosines = np.clip(np.sum(first * second, axis=1), -1, 1)
    return float(stats.pearsonr(-np.arccos(cosines), [pair.gold for pair in pairs])[0])

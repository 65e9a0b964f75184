"""Validation: P@N on held-out pairs, accuracy on NLI, Pearson's r on STS.

Each worker validates on one replica, outside the strategy: no worker waits for another.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple, Self

import numpy as np
import orbit
import tensorflow as tf
from official.core import base_task
from scipy import stats

from model.data import input_pipeline, tfrecords
from model.dual_encoder import DualEncoder
from model.errors import InputError
from model.tasks.pair_task import strings
from model.text.preprocessing import TextToIds
from model.training.ema import WeightAverage
from model.training.monitoring import LearningCheck
from model.training.signals import Signals

_SCORE, _FIRST, _SECOND = 4, 5, 6
"""Tab-separated columns; quotes are text (the readme of the STS Benchmark)."""
_AT_ONCE = 500


class Validator(orbit.AbstractEvaluator):
    """Validates the tasks of a run, and STS if a file is given."""

    def __init__(
        self,
        tasks: Sequence[base_task.Task],
        *,
        model: DualEncoder,
        average: WeightAverage,
        sts: "StsPairs | None",
        check: LearningCheck,
        then: Callable[[dict[str, float]], None] | None,
        signals: Signals | None,
    ):
        self._model = model
        self._average = average
        self._sts = sts
        self._check = check
        self._then = then
        self._signals = signals
        self._tasks = tasks
        self._datasets = [task.build_inputs(task.task_config.validation_data) for task in tasks]
        self._steps = [self._make_step(task) for task in tasks]

    def evaluate(self, num_steps: tf.Tensor) -> dict[str, float]:
        """Validates the average of the weights if one is kept, otherwise the weights.

        Args:
          num_steps: number of batches of each task; -1 for all.

        Returns:
          Means over the batches: `validation_loss` (of the first task), the tasks' metrics; and
          `sts_dev_pearson`.

        Raises:
          StoppedError: if a signal to stop has arrived.
          InputError: if a record cannot be read.
        """
        logs: dict[str, float] = {}
        self._check.begin_validation()
        with self._average.in_place():
            for task, dataset, step in zip(self._tasks, self._datasets, self._steps, strict=True):
                with _damage_named(task):
                    values = []
                    for batch in dataset.take(int(num_steps)):
                        values.append(step(batch).numpy())
                        if self._signals is not None:
                            self._signals.raise_if_stopped()
                names = ["validation_loss", *task.metrics]
                means = dict(zip(names, map(float, np.mean(values, axis=0)), strict=True))
                logs = means | logs
                self._look_at_one_batch(task)
            if self._sts is not None:
                logs["sts_dev_pearson"] = self._sts.pearson(self._model)
        values_of_logs = ", ".join(f"{name} {value:.4f}" for name, value in logs.items())
        print(f"validation: {values_of_logs}")
        if self._then is not None:
            self._then(logs)
        return logs

    def embed(self, most: int) -> tuple[list[str], np.ndarray]:
        """The first different sentences of the validation records, and their embeddings.

        Args:
          most: as many sentences, or all if there are fewer.

        Returns:
          The sentences, and float32 [sentences, dim].
        """
        task, found = self._tasks[0], dict[str, np.ndarray]()
        data = task.task_config.validation_data
        with self._average.in_place():
            for serialized in input_pipeline.validation_records(
                task, data, tf.distribute.InputContext()
            ):
                batch = input_pipeline.parse(task, data, serialized)
                name = next(name for name, ids in batch.items() if isinstance(ids, dict))
                texts = strings(serialized, {name: tf.io.FixedLenFeature([], tf.string)})[name]
                embeddings = self._model.encode_inputs(batch[name]).numpy()
                found |= zip(texts, embeddings, strict=True)
                if len(found) >= most:
                    break
        return list(found)[:most], np.stack(list(found.values())[:most])

    def _make_step(self, task: base_task.Task) -> Callable[[dict], tf.Tensor]:
        @tf.function(autograph=False, reduce_retracing=True)
        def step(batch: dict) -> tf.Tensor:
            logs = task.validation_step(batch, self._model)
            return tf.stack([logs[name] for name in (task.loss, *task.metrics)])

        return step

    def _look_at_one_batch(self, task: base_task.Task) -> None:
        """Checks for equal embeddings, and shows the task's mistakes in TensorBoard."""
        data = task.task_config.validation_data
        records = input_pipeline.validation_records(task, data, tf.distribute.InputContext())
        for serialized in records.take(1):
            batch = input_pipeline.parse(task, data, serialized)
            sentences = next(ids for ids in batch.values() if isinstance(ids, dict))
            self._check.validated(sentences, self._model.encode_inputs(sentences).numpy())
            lines = task.mistakes(self._model, serialized, batch)
            tf.summary.text(f"mistakes/{task.name}", "\n\n".join(lines))


@contextmanager
def _damage_named(task: base_task.Task) -> Iterator[None]:
    """Names the validation record that cannot be read, if that is what fails."""
    try:
        yield
    except tf.errors.OpError as error:
        name = f"{task.section}.validation_data"
        files = tfrecords.find_files(name, task.task_config.validation_data)
        raise tfrecords.find_damage(name, files, task.parse) or error from error


class StsPairs(NamedTuple):
    """Pairs of sentences with human similarity scores, such as the STS Benchmark's `sts-dev.csv`.

    They are scored while training goes on; `python -m evaluation sts` is the full evaluation.
    """

    first: list[str]
    second: list[str]
    gold: list[float]
    """0 to 5."""
    text: TextToIds

    @classmethod
    def read(cls, path: str, text: TextToIds) -> Self:
        """Reads a file of the STS Benchmark.

        Raises:
          InputError: if it cannot be read, or a line is malformed.
        """
        pairs = cls([], [], [], text)
        try:
            with tf.io.gfile.GFile(path) as file:
                for line in file:
                    columns = line.rstrip("\n").split("\t")
                    pairs.first.append(columns[_FIRST])
                    pairs.second.append(columns[_SECOND])
                    gold = float(columns[_SCORE])
                    if not 0 <= gold <= 5:
                        raise ValueError(f"{columns[_SCORE]!r} is no score from 0 to 5")
                    pairs.gold.append(gold)
        except (tf.errors.OpError, UnicodeDecodeError, ValueError, IndexError) as error:
            raise InputError(
                f"task.sts_dev: {path!r}, line {len(pairs.gold) + 1}: {error}; accepted: files "
                "of the STS Benchmark, such as sts-dev.csv"
            ) from error
        if len(pairs.gold) < 2:
            raise InputError(f"task.sts_dev: {path!r} has {len(pairs.gold)} pairs; at least 2")
        if len(set(pairs.gold)) < 2:
            raise InputError(
                f"task.sts_dev: all scores of {path!r} are {pairs.gold[0]:g}; a correlation needs "
                "two"
            )
        return pairs

    def pearson(self, model: DualEncoder) -> float:
        """Pearson's r between -arccos(cosine) and the gold scores (section 4.3)."""
        first, second = (self._embed(model, each) for each in (self.first, self.second))
        cosines = np.clip(np.sum(first * second, axis=1), -1, 1)
        return float(stats.pearsonr(-np.arccos(cosines), self.gold)[0])

    def _embed(self, model: DualEncoder, sentences: list[str]) -> np.ndarray:
        """Embeddings: float32 [sentences, dim]."""
        chunks = [sentences[i : i + _AT_ONCE] for i in range(0, len(sentences), _AT_ONCE)]
        return np.concatenate(
            [model.encode_inputs(self.text(tf.constant(chunk))).numpy() for chunk in chunks]
        )

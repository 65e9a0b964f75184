"""The checkpoints of a run: the last ones, to go on from, and the one that validated best."""

import json
import math
import re
import tempfile
from posixpath import join
from typing import Any

import tensorflow as tf
from official.core import config_definitions

from model import configs, model_dir
from model.errors import TrainingError

BEST = "best"
_BEST_FILE = "best.json"


class Checkpoints(tf.train.CheckpointManager):
    """The last checkpoints in the model folder.

    Due are the multiples of `checkpoint_interval`, wherever the run began or was stopped.

    Workers other than the chief have to take part in saving, since some variables are known only
    from all replicas together; what they write is thrown away.
    """

    def __init__(
        self,
        checkpoint: tf.train.Checkpoint,
        *,
        global_step: tf.Variable,
        folder: str,
        config: configs.Trainer,
        is_chief: bool,
    ):
        self._scratch = None if is_chief else tempfile.TemporaryDirectory()
        self._global_step = global_step
        self._asked_at = 0
        super().__init__(
            checkpoint,
            self._scratch.name if self._scratch else folder,
            max_to_keep=config.max_to_keep if is_chief else 1,
            step_counter=global_step,
            checkpoint_interval=config.checkpoint_interval,
            init_fn=None if is_chief else lambda: _restore_last(checkpoint, folder),
        )

    def restore_or_initialize(self) -> str | None:
        """Restores the last checkpoint, if there is one, and returns its path."""
        restored = super().restore_or_initialize()
        self._asked_at = int(self._global_step.numpy())
        return restored

    def save(
        self,
        checkpoint_number: int | None = None,
        check_interval: bool = True,
        options: tf.train.CheckpointOptions | None = None,
    ) -> str | None:
        """Writes a checkpoint, if one became due since it was last asked.

        All workers come to the same answer, whatever their own folders hold.

        Raises:
          TrainingError: if it cannot be written; the ones before it stay as they are.
        """
        step, interval = int(self._global_step.numpy()), self.checkpoint_interval
        is_due = step // interval > self._asked_at // interval
        self._asked_at = step
        if check_interval and not is_due:
            return None
        try:
            return super().save(checkpoint_number, check_interval=False, options=options)
        except tf.errors.OpError as error:
            raise TrainingError(f"a checkpoint cannot be written: {_reason(error)}") from error

    def sync(self) -> None:
        """Waits for a checkpoint that is still being written.

        Raises:
          TrainingError: as `save`.
        """
        try:
            super().sync()
        except tf.errors.OpError as error:
            raise TrainingError(f"a checkpoint cannot be written: {_reason(error)}") from error

    def close(self) -> None:
        """Removes what was not for the model folder."""
        if self._scratch:
            self._scratch.cleanup()


def _reason(error: tf.errors.OpError) -> str:
    """What went wrong, without the operation of the graph that it went wrong in."""
    return re.sub(r"\{\{.*?\}\}|\[Op:\w+\]", "", error.message).strip()


def _restore_last(checkpoint: tf.train.Checkpoint, folder: str) -> None:
    last = tf.train.latest_checkpoint(folder)
    if last is not None:
        checkpoint.restore(last)


class BestCheckpoint:
    """Keeps the model that had the highest value of one metric of validation.

    The metric is `trainer.best_checkpoint_eval_metric`, or else the first there is of STS, P@1
    and accuracy.
    """

    _METRICS = ("sts_dev_pearson", "p_at_1", "nli_accuracy")

    def __init__(
        self,
        checkpoint: tf.train.Checkpoint,
        *,
        global_step: tf.Variable,
        folder: str,
        params: config_definitions.ExperimentConfig,
        is_chief: bool,
    ):
        self._scratch = None if is_chief else tempfile.TemporaryDirectory()
        self._folder = self._scratch.name if self._scratch else join(folder, BEST)
        self._params = params
        self._global_step = global_step
        self._manager = tf.train.CheckpointManager(
            checkpoint, self._folder, max_to_keep=1, step_counter=global_step
        )
        self.best: dict[str, Any] | None = _read(join(folder, BEST, _BEST_FILE))
        """`step`, `metric` and `value`."""

    def offer(self, logs: dict[str, float]) -> None:
        """Saves the model if it validated better than all before it.

        Raises:
          TrainingError: if validation has no such metric, or the model cannot be saved.
        """
        named = self._params.trainer.best_checkpoint_eval_metric
        metric = named or next(name for name in self._METRICS if name in logs)
        if metric not in logs:
            raise TrainingError(
                f"trainer.best_checkpoint_eval_metric: validation has no {metric!r}; it has "
                f"{', '.join(sorted(logs))}"
            )
        least = -math.inf if self.best is None else self.best["value"]
        if not logs[metric] > least:  # nor is NaN, such as Pearson's r of equal similarities
            return
        step = int(self._global_step.numpy())
        try:
            self._manager.save(checkpoint_number=step)
        except tf.errors.OpError as error:
            raise TrainingError(
                f"the best checkpoint cannot be written: {_reason(error)}"
            ) from error
        model_dir.write_params(self._params, self._folder)
        self.best = {"step": step, "metric": metric, "value": logs[metric]}
        model_dir.write(join(self._folder, _BEST_FILE), json.dumps(self.best) + "\n")

    def close(self) -> None:
        """Removes what was not for the model folder."""
        if self._scratch:
            self._scratch.cleanup()


def _read(path: str) -> dict[str, Any] | None:
    if not tf.io.gfile.exists(path):
        return None
    with tf.io.gfile.GFile(path) as file:
        return json.loads(file.read())

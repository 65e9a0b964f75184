"""The checkpoints of a run: the last ones, to go on from, and the one that validated best."""

import json
import math
import re
import tempfile
from posixpath import join
from typing import Any

import tensorflow as tf
from official.core import config_definitions

from model.checkpoints import files, model_dir
from model.checkpoints.files import BEST
from model.configs import schema
from model.errors import InputError, TrainingError

_BEST_FILE = "best.json"


class Checkpoints(tf.train.CheckpointManager):
    """The last checkpoints in the model folder.

    Due are the multiples of `checkpoint_interval`, wherever the run began or was stopped.

    Workers other than the chief have to take part in saving, since some variables are known only
    from all replicas together; what they write is thrown away. Nor does a run write that only
    evaluates.
    """

    def __init__(
        self,
        checkpoint: tf.train.Checkpoint,
        *,
        global_step: tf.Variable,
        folder: str,
        config: schema.Trainer,
        writes: bool,
    ):
        self._scratch = None if writes else tempfile.TemporaryDirectory()
        self._global_step = global_step
        self._folder = folder
        self._asked_at = 0
        if writes:
            files.tidy(folder)
        super().__init__(
            checkpoint,
            self._scratch.name if self._scratch else folder,
            max_to_keep=config.max_to_keep if writes else 1,
            step_counter=global_step,
            checkpoint_interval=config.checkpoint_interval,
        )

    def restore_or_initialize(self) -> str | None:
        """Restores the last checkpoint of the model folder, if there is one; returns its path.

        Raises:
          InputError: if a file of it is missing or damaged.
        """
        last = files.last(self._folder)
        if last is not None:
            with files.damage_named(last, name="--model_dir"):
                self.checkpoint.restore(last)
            self._last_checkpoint_step = int(self._global_step.numpy())
        self._asked_at = int(self._global_step.numpy())
        return last

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


class BestCheckpoint:
    """Keeps the model that had the best value of one metric of validation.

    The metric is `trainer.best_checkpoint_eval_metric`, the best its highest value or, by
    `trainer.best_checkpoint_metric_comp`, its lowest. Where none is named it is the first there
    is of STS, P@1 and accuracy.
    """

    _METRICS = ("sts_dev_pearson", "p_at_1", "nli_accuracy")

    def __init__(
        self,
        checkpoint: tf.train.Checkpoint,
        *,
        global_step: tf.Variable,
        folder: str,
        params: config_definitions.ExperimentConfig,
        writes: bool,
    ):
        self._scratch = None if writes else tempfile.TemporaryDirectory()
        self._folder = self._scratch.name if self._scratch else join(folder, BEST)
        if writes:
            files.tidy(self._folder)
        self._params = params
        self._global_step = global_step
        self._manager = tf.train.CheckpointManager(
            checkpoint, self._folder, max_to_keep=1, step_counter=global_step
        )
        self.best: dict[str, Any] | None = _read(join(folder, BEST, _BEST_FILE))
        """`step`, `metric`, `value` and `comp`: whether the `higher` or the `lower` is better."""

    def offer(self, logs: dict[str, float]) -> None:
        """Saves the model if it validated better than all before it.

        Raises:
          TrainingError: if validation has no such metric, or the model cannot be saved.
        """
        trainer = self._params.trainer
        named, comp = trainer.best_checkpoint_eval_metric, trainer.best_checkpoint_metric_comp
        metric = named or next(name for name in self._METRICS if name in logs)
        if metric not in logs:
            raise TrainingError(
                f"trainer.best_checkpoint_eval_metric: validation has no {metric!r}; it has "
                f"{', '.join(sorted(logs))}"
            )
        if not self._is_better(logs[metric], metric=metric, comp=comp):
            return
        step = int(self._global_step.numpy())
        try:
            self._manager.save(checkpoint_number=step)
        except tf.errors.OpError as error:
            raise TrainingError(
                f"the best checkpoint cannot be written: {_reason(error)}"
            ) from error
        model_dir.write_params(self._params, self._folder)
        self.best = {"step": step, "metric": metric, "value": logs[metric], "comp": comp}
        model_dir.write(join(self._folder, _BEST_FILE), json.dumps(self.best) + "\n")

    def _is_better(self, value: float, *, metric: str, comp: str) -> bool:
        """Never is NaN, such as Pearson's r of equal similarities."""
        if math.isnan(value) or self.best is None:
            return not math.isnan(value)
        kept = self.best["metric"], self.best["comp"]
        if kept != (metric, comp):
            print(
                f"{self._folder} was kept for the {kept[1]} {kept[0]} "
                f"({self.best['value']:.4f} at step {self.best['step']}); from now on the {comp} "
                f"{metric} decides, and it is replaced"
            )
            return True
        return value < self.best["value"] if comp == schema.LOWER else value > self.best["value"]

    def close(self) -> None:
        """Removes what was not for the model folder."""
        if self._scratch:
            self._scratch.cleanup()


def _read(path: str) -> dict[str, Any] | None:
    """What is known of the best checkpoint so far.

    Raises:
      InputError: if the file is damaged.
    """
    if not tf.io.gfile.exists(path):
        return None
    try:
        with tf.io.gfile.GFile(path) as file:
            found = json.loads(file.read())
        return {
            "step": int(found["step"]),
            "metric": str(found["metric"]),
            "value": float(found["value"]),
            "comp": found.get("comp", schema.HIGHER),
        }
    except (tf.errors.OpError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(
            f"--model_dir: {path!r} does not say how well the best checkpoint validated: "
            f"{error!r}; remove its folder to choose the best anew"
        ) from error

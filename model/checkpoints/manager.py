"""The checkpoints of a run: the last ones, to resume from, and the one that validated best."""

import json
import math
import tempfile
from posixpath import basename, join
from typing import Any

import tensorflow as tf
from official.core import config_definitions

from model.checkpoints import files, model_dir
from model.checkpoints.files import BEST, BEST_RECORD
from model.configs import schema
from model.errors import InputError, TrainingError, message_of


class Checkpoints(tf.train.CheckpointManager):
    """The last checkpoints in the model folder, at multiples of `checkpoint_interval`.

    TensorFlow's manager counts the interval from the last checkpoint: a run that was stopped
    would save at other steps than an undisturbed one.

    Workers other than the chief take part in saving, since some variables need all replicas; they
    write to a temporary folder. A run that only evaluates does not write.
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
        """Writes a checkpoint if a multiple of the interval was passed since the last call.

        All workers decide alike, whatever their own folders hold.

        Raises:
          TrainingError: if it cannot be written; earlier ones stay.
        """
        step, interval = int(self._global_step.numpy()), self.checkpoint_interval
        is_due = step // interval > self._asked_at // interval
        self._asked_at = step
        if check_interval and not is_due:
            return None
        try:
            return super().save(checkpoint_number, check_interval=False, options=options)
        except tf.errors.OpError as error:
            raise TrainingError(f"a checkpoint cannot be written: {message_of(error)}") from error

    def sync(self) -> None:
        """Waits for a checkpoint that is still being written.

        Raises:
          TrainingError: as `save`.
        """
        try:
            super().sync()
        except tf.errors.OpError as error:
            raise TrainingError(f"a checkpoint cannot be written: {message_of(error)}") from error

    def close(self) -> None:
        """Removes the temporary folder."""
        if self._scratch:
            self._scratch.cleanup()


class BestCheckpoint:
    """Keeps the checkpoint with the best value of one validation metric.

    The metric is `trainer.best_checkpoint_eval_metric`, the best its highest value or, by
    `trainer.best_checkpoint_metric_comp`, its lowest. By default it is the first that validation
    has of STS, P@1, NLI accuracy and the cosine to a teacher.

    The Model Garden's `BestCheckpointExporter` writes its note before the checkpoint, so that a
    killed run may lose its best; keeps NaN as the best if it comes first; and lets every worker
    write.
    """

    _METRICS = ("sts_dev_pearson", "p_at_1", "nli_accuracy", "teacher_cosine")

    def __init__(
        self,
        checkpoint: tf.train.Checkpoint,
        *,
        global_step: tf.Variable,
        folder: str,
        params: config_definitions.ExperimentConfig,
        writes: bool,
        trains: bool = True,
    ):
        self._scratch = None if writes else tempfile.TemporaryDirectory()
        self._folder = self._scratch.name if self._scratch else join(folder, BEST)
        self._run, self._trains = folder, trains
        if writes:
            files.tidy(self._folder)
        self._params = params
        self._global_step = global_step
        self._manager = tf.train.CheckpointManager(
            checkpoint, self._folder, max_to_keep=1, step_counter=global_step
        )
        self.best: dict[str, Any] | None = _read(join(folder, BEST, BEST_RECORD))
        """`step`, `metric`, `value`, `comp`, `higher` or `lower`, and `validation`, on what, of the
        best so far."""

    def offer(self, logs: dict[str, float]) -> None:
        """Saves a checkpoint if this validation is the best so far.

        Raises:
          TrainingError: if the checkpoint cannot be written.
        """
        trainer = self._params.trainer
        named, comp = trainer.best_checkpoint_eval_metric, trainer.best_checkpoint_metric_comp
        metric = named or next(name for name in self._METRICS if name in logs)
        if not self._is_better(logs[metric], metric=metric, comp=comp):
            return
        step = int(self._global_step.numpy())
        try:
            self._manager.save(checkpoint_number=step)
        except tf.errors.OpError as error:
            raise TrainingError(
                f"the best checkpoint cannot be written: {message_of(error)}"
            ) from error
        if self._trains:
            model_dir.write_params(self._params, self._folder)
        else:  # this process knows what it validates, not what was trained
            model_dir.copy_params(self._run, self._folder)
        self.best = {"step": step, "metric": metric, "value": logs[metric], "comp": comp}
        self.best["validation"] = _validation(self._params)
        model_dir.write(join(self._folder, BEST_RECORD), json.dumps(self.best) + "\n")

    def _is_better(self, value: float, *, metric: str, comp: str) -> bool:
        """Whether a value is the best so far; NaN, as Pearson's r may be, never is."""
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
        if self.best["validation"] not in (None, now := _validation(self._params)):
            print(
                f"{self._folder} was kept by another validation ({self.best['validation']}, now "
                f"{now}), and is replaced"
            )
            return True
        return value < self.best["value"] if comp == schema.LOWER else value > self.best["value"]

    def close(self) -> None:
        """Removes the temporary folder."""
        if self._scratch:
            self._scratch.cleanup()


def _validation(params: config_definitions.ExperimentConfig) -> str:
    """On what a run validates, by which values of two validations compare: names, and sizes."""
    task = params.task.as_dict()
    found = []
    for section in (task, task.get("nli"), task.get("teacher")):
        if data := (section or {}).get("validation_data"):
            found.append(f"{basename(str(data['input_path']))} by {data['global_batch_size']}")
    if task.get("sts_dev"):
        found.append(basename(task["sts_dev"]))
    return f"{', '.join(found)}, {params.trainer.validation_steps} steps"


def _read(path: str) -> dict[str, Any] | None:
    """The note of the best checkpoint so far, if there is one.

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
            "validation": found.get("validation"),
        }
    except (tf.errors.OpError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(
            f"--model_dir: {path!r} does not say how well the best checkpoint validated: "
            f"{error!r}; remove its folder to choose the best anew"
        ) from error

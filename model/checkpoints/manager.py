"""The checkpoints of a run: the last ones, to resume from, and the one that validated best."""

import math
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import tensorflow as tf
from official.core import config_definitions

from common.errors import message_of
from common.files import write_text
from model.checkpoints import files, model_dir, record
from model.checkpoints.files import BEST
from model.configs import schema
from model.errors import TrainingError


@contextmanager
def _writing() -> Iterator[None]:
    try:
        yield
    except tf.errors.OpError as error:
        raise TrainingError(f"a checkpoint cannot be written: {message_of(error)}") from error


class Checkpoints(tf.train.CheckpointManager):
    """The last checkpoints in the model folder, one every `checkpoint_interval` steps.

    Workers other than the chief take part in saving, since some variables need all replicas; they
    write to a temporary folder. A run that only evaluates does not write.
    """

    def __init__(
        self,
        checkpoint: tf.train.Checkpoint,
        *,
        global_step: tf.Variable,
        folder: Path,
        config: schema.Trainer,
        writes: bool,
    ):
        self._scratch = None if writes else tempfile.TemporaryDirectory()
        self._folder = folder
        if writes:
            files.tidy(folder)
        super().__init__(
            checkpoint,
            self._scratch.name if self._scratch else str(folder),
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
            with files.damage_named(last):
                self.checkpoint.restore(last)
        # The interval is counted from here, in all workers.
        self._last_checkpoint_step = int(self._step_counter.numpy())
        return last

    def save(self, *args: Any, **kwargs: Any) -> str | None:
        """As TensorFlow's.

        Raises:
          TrainingError: if it cannot be written; earlier ones stay.
        """
        with _writing():
            return super().save(*args, **kwargs)

    def sync(self) -> None:
        """Waits for a checkpoint that is still being written; raises as `save`."""
        with _writing():
            super().sync()

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
        folder: Path,
        params: config_definitions.ExperimentConfig,
        writes: bool,
    ):
        self._scratch = None if writes else tempfile.TemporaryDirectory()
        self._run, self._folder = folder, folder / BEST
        self._params = params
        self._global_step = global_step
        if writes:
            files.tidy(self._folder)
        self._manager = tf.train.CheckpointManager(
            checkpoint,
            self._scratch.name if self._scratch else str(self._folder),
            max_to_keep=1,
            step_counter=global_step,
        )
        earlier = record.read(self._folder)
        self.best = earlier.best if earlier else None

    def offer(self, logs: dict[str, float]) -> None:
        """Saves a checkpoint if this validation is the best so far.

        Raises:
          TrainingError: if the checkpoint cannot be written.
        """
        trainer = self._params.trainer
        metric = trainer.best_checkpoint_eval_metric or next(
            name for name in self._METRICS if name in logs
        )
        offered = record.Best(
            step=int(self._global_step.numpy()),
            metric=metric,
            value=logs[metric],
            comp=trainer.best_checkpoint_metric_comp,
            validation=_validation(self._params),
        )
        if not self._is_better(offered):
            return
        with _writing():
            self._manager.save(checkpoint_number=offered.step)
        self.best = offered
        if self._scratch:
            return
        # Of the run: who only validates does not know what was trained.
        params = (self._run / model_dir.PARAMS_FILE).read_text(encoding="utf-8")
        write_text(self._folder / model_dir.PARAMS_FILE, params)
        of_run = record.read(self._run) or record.Record()
        record.write(self._folder, record.Record(vocabulary=of_run.vocabulary, best=offered))

    def _is_better(self, offered: record.Best) -> bool:
        """Whether a validation is the best so far; NaN, as Pearson's r may be, never is."""
        if math.isnan(offered.value) or self.best is None:
            return not math.isnan(offered.value)
        if what := [
            f"{name} {before!r}, now {now!r}"
            for name in ("metric", "comp", "validation")
            if (before := getattr(self.best, name)) != (now := getattr(offered, name))
        ]:
            print(
                f"{self._folder} was kept by another validation and is replaced: {'; '.join(what)}"
            )
            return True
        if offered.comp == schema.LOWER:
            return offered.value < self.best.value
        return offered.value > self.best.value

    def close(self) -> None:
        """Removes the temporary folder."""
        if self._scratch:
            self._scratch.cleanup()


def _validation(params: config_definitions.ExperimentConfig) -> str:
    """On what a run validates, by which values of two validations compare: names, and sizes."""
    sections = [params.task, *schema.further_tasks(params.task).values()]
    found = [
        f"{Path(str(section.validation_data.input_path)).name} by "
        f"{section.validation_data.global_batch_size}"
        for section in sections
    ]
    if params.task.sts_dev:
        found.append(Path(params.task.sts_dev).name)
    return f"{', '.join(found)}, {params.trainer.validation_steps} steps"

"""The checkpoints of a run: the last ones, to resume from, and the one that validated best."""

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import tensorflow as tf
from official.core import config_definitions

from common.errors import message_of
from common.fields import refused
from common.files import write_text
from model import BEST
from model.checkpoints import files
from model.checkpoints.model_dir import Best, Record
from model.configs import schema
from model.errors import TrainingError
from model.tasks.pair_task import PairTask


@contextmanager
def _writing() -> Iterator[None]:
    try:
        yield
    except tf.errors.OpError as error:
        raise TrainingError(f"a checkpoint cannot be written: {message_of(error)}") from error


class Checkpoints(tf.train.CheckpointManager):
    """The last checkpoints in the model folder, one every `checkpoint_interval` steps.

    The `state` has a `global_step`. What is restored is in `folder`, the model folder; this process
    writes in `directory`. Workers other than the chief take part in saving, since some variables
    need all replicas, and write elsewhere. `synchronize` is called with the step before one is
    written.
    """

    def __init__(
        self,
        state: tf.train.Checkpoint,
        *,
        folder: Path,
        directory: Path,
        config: schema.Trainer,
        synchronize: Callable[[int], None],
    ):
        self._folder, self._restored_step = folder, 0
        self._synchronize = synchronize
        super().__init__(
            state,
            str(directory),
            max_to_keep=config.max_to_keep,
            step_counter=state.global_step,
            checkpoint_interval=config.checkpoint_interval,
        )

    def restore_or_initialize(self) -> str | None:
        """Restores the last checkpoint of the model folder, if there is one; returns its path."""
        last = files.last(self._folder)
        if last is not None:
            with files.restoring(last):
                self.checkpoint.restore(last)
        # As if the run had not been stopped: due at the multiples of the interval.
        self._restored_step = step = int(self._step_counter.numpy())
        self._last_checkpoint_step = step - step % self.checkpoint_interval
        return last

    def save(
        self, checkpoint_number: Any = None, check_interval: bool = True, options: Any = None
    ) -> str | None:
        """As TensorFlow's; the restored one is not written again."""
        step = int(self._step_counter.numpy())
        is_early = step < self._last_checkpoint_step + self.checkpoint_interval
        if step == self._restored_step or (check_interval and is_early):
            return None
        with _writing():
            self._synchronize(step)
            return super().save(checkpoint_number, check_interval=False, options=options)


class BestCheckpoint:
    """Keeps the checkpoint with the best value of one validation metric.

    The Model Garden's `BestCheckpointExporter` writes its note before the checkpoint, so that a
    killed run may lose its best; keeps NaN as the best if it comes first; and lets every worker
    write.

    Of `state`, `model` and `average` are saved; `folder` and `directory` are as those of
    `Checkpoints`. Of a `metric` whose name ends in loss the lowest value is the best, otherwise the
    highest.
    """

    def __init__(self, state: tf.train.Checkpoint, *, folder: Path, directory: Path, metric: str):
        self._run, self._folder, self._metric = folder, folder / BEST, metric
        self._is_chief, self._global_step = directory == folder, state.global_step
        self._manager = tf.train.CheckpointManager(
            tf.train.Checkpoint(model=state.model, average=state.average),
            str(directory / BEST),
            max_to_keep=1,
            step_counter=state.global_step,
        )
        self.best = (Record.read(self._folder) or Record()).best

    def offer(self, logs: dict[str, float]) -> None:
        """Saves a checkpoint if this validation is the best so far."""
        offered = Best(
            step=int(self._global_step.numpy()), metric=self._metric, value=logs[self._metric]
        )
        if not self._is_better(offered):
            return
        with _writing():
            self._manager.save(checkpoint_number=offered.step)
        self.best = offered
        if not self._is_chief:
            return
        params = (self._run / files.PARAMS_FILE).read_text(encoding="utf-8")
        write_text(self._folder / files.PARAMS_FILE, params)
        of_run = Record.read(self._run) or Record()
        Record(vocabulary=of_run.vocabulary, best=offered).write(self._folder)

    def _is_better(self, offered: Best) -> bool:
        """Whether a validation is the best so far; NaN, as Pearson's r may be, never is."""
        if math.isnan(offered.value) or self.best is None:
            return not math.isnan(offered.value)
        if self.best.metric != offered.metric:
            print(f"{self._folder} was kept by {self.best.metric} and is replaced")
            return True
        sign = -1 if offered.metric.endswith("loss") else 1
        return sign * offered.value > sign * self.best.value


def best_metric(params: config_definitions.ExperimentConfig, tasks: Sequence[PairTask]) -> str:
    """The metric that chooses the best checkpoint: named, or STS or the first task's main one."""
    named = params.trainer.best_checkpoint_eval_metric
    sts = ["sts_dev_pearson"] if params.task.sts_dev else []
    metrics = ["validation_loss", *(name for task in tasks for name in task.metrics), *sts]
    if named and named not in metrics:
        raise refused("trainer.best_checkpoint_eval_metric", named, ", ".join(metrics))
    return named or (*sts, tasks[0].main)[0]

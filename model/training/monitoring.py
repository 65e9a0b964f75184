"""What a run reports: logs of a loop, a progress bar, warnings if nothing is learned, a summary."""

import io
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf
import tf_keras
from official.core import base_task
from tabulate import tabulate
from tqdm import tqdm

from model.data.task_sampler import TaskSampler
from model.errors import TrainingError
from model.tasks.losses import GRADIENT_NORM

LOSS = "training_loss"
_SHOWN = ("p_at_1", "nli_accuracy", "teacher_cosine")
_LOOPS = 3
"""Warn after this many loops in a row without a gradient."""
_NO_GRADIENT = 1e-9
"""A norm below this changes no weight but by rounding."""
_LEARNED = 1e-3
"""A loss below this may have no gradient left."""
_ONE_POINT = 1e-6
"""Variance of unit vectors below which scores are equal but for rounding; before the first step it
is 0.14 to 0.78 with the encoders of the laptop presets."""


def stacked(task: base_task.Task, logs: dict[str, tf.Tensor]) -> tf.Tensor:
    """The logs of a training step in a fixed order: float32 [2 + metrics]."""
    return tf.stack([logs[name] for name in (task.loss, *task.metrics, GRADIENT_NORM)])


def means(
    tasks: Sequence[base_task.Task], drawn: Sequence[int], values: Sequence[np.ndarray]
) -> dict[str, float]:
    """Logs of a loop: the mean of each value over its steps; of the gradient's norm, the last.

    Args:
      tasks: all tasks of the run.
      drawn: the index of each step's task.
      values: what each step logged, as `stacked`; float32 [2 + metrics or more].
    """
    by_name: dict[str, list[float]] = {}
    for index, of_step in zip(drawn, values, strict=True):
        names = (LOSS, *tasks[index].metrics, GRADIENT_NORM)
        for name, value in zip(names, of_step, strict=False):
            by_name.setdefault(name, []).append(value)
    found = {name: float(np.mean(some)) for name, some in by_name.items()}
    found[GRADIENT_NORM] = float(np.nanmax(by_name[GRADIENT_NORM]))
    for index, task in enumerate(tasks[1:], 1):
        found[f"{task.name}_share"] = float(np.mean(np.asarray(drawn) == index))
    return found


def learning_rate(optimizer: tf_keras.optimizers.legacy.Optimizer) -> float:
    """The current learning rate."""
    if hasattr(optimizer, "_decayed_lr"):  # of legacy ones, with their own decay
        return float(optimizer._decayed_lr(tf.float32))
    rate = optimizer.learning_rate
    if isinstance(rate, tf_keras.optimizers.schedules.LearningRateSchedule):
        rate = rate(optimizer.iterations)
    return float(rate.numpy())


class Progress:
    """A progress bar over the pairs of the run: pairs/s, time left, loss.

    Orbit calls it after every loop.
    """

    def __init__(self, sampler: TaskSampler, *, steps: int, global_step: tf.Variable):
        self._sampler = sampler
        self._global_step = global_step
        self._step = int(global_step.numpy())
        self.logs: dict[str, float] = {}
        """Logs of the last loop."""
        self._bar = tqdm(
            total=self._records(0, steps),
            initial=self._records(0, self._step),
            desc="training",
            unit=" pairs",
            unit_scale=True,
            dynamic_ncols=True,
        )

    def __call__(self, logs: dict[str, float]) -> None:
        """Moves the bar to the current step."""
        self.logs = logs
        shown = {name: f"{logs[name]:.3f}" for name in _SHOWN if name in logs}
        self._bar.set_postfix({"loss": f"{logs[LOSS]:.3f}"} | shown, refresh=False)
        before, self._step = self._step, int(self._global_step.numpy())
        self._bar.update(self._records(before, self._step))

    def _records(self, start: int, before: int) -> int:
        tasks = range(len(self._sampler.data))
        return sum(self._sampler.records(task, start=start, before=before) for task in tasks)

    def close(self) -> None:
        """Leaves the finished bar on the screen."""
        self._bar.close()


class BesideProgress(io.TextIOBase):
    """Standard output while a bar is drawn: prints above the bar.

    Orbit's lines about loops and validations are dropped: the bar and `Validator` print those.
    """

    def __init__(self) -> None:
        super().__init__()
        self._stdout = sys.stdout

    def write(self, text: str) -> int:
        """Writes one printed message."""
        if text.strip() and not text.startswith(("train |", " eval |")):
            tqdm.write(text.rstrip("\n"), file=self._stdout)
            self._stdout.flush()
        return len(text)


class LearningCheck:
    """Detects a run that no longer learns: no gradient, or embeddings all equal or not finite.

    With a learning rate that is far too high, vectors become so long that, L2-normalized, nothing
    moves them: the loss stays finite. Orbit calls this after every loop.
    """

    def __init__(self, global_step: tf.Variable):
        self._global_step = global_step
        self._loops = 0
        self._without: list[int] = []
        """Last steps of the latest loops in a row without a gradient."""
        self._loss = 0.0
        self._degenerate: str | None = None

    def __call__(self, logs: dict[str, float]) -> None:
        """Checks one loop; prints a warning after several without a gradient."""
        self._loops += 1
        self._loss = logs[LOSS]
        if logs[GRADIENT_NORM] < _NO_GRADIENT and self._loss > _LEARNED:
            self._without.append(int(self._global_step.numpy()))
        else:
            self._without.clear()
        if len(self._without) == _LOOPS:
            print(f"warning: {self._no_gradient()}")

    def begin_validation(self) -> None:
        """Forgets what the validation before found."""
        self._degenerate = None

    def validated(self, ids: dict[str, Any], embeddings: np.ndarray) -> None:
        """Checks some sentences of a validation; warns if embeddings are all equal, or not finite.

        Args:
          ids: of the sentences, [batch, tokens] each.
          embeddings: of unit length, [batch, dim].
        """
        differ = any(np.ptp(values, axis=0).any() for values in ids.values())
        if not np.isfinite(embeddings).all():
            found, means = "not finite", "diverged"
        elif differ and np.var(embeddings.astype(np.float64), axis=0).sum() < _ONE_POINT:
            found, means = "one point", "collapsed"
        else:
            return
        self._degenerate = (
            f"the embeddings of {len(embeddings)} sentences are {found} at step "
            f"{int(self._global_step.numpy())}: the encoder has {means}"
        )
        print(f"warning: {self._degenerate}")

    @property
    def failure(self) -> str:
        """Why the model is of no use: no gradient, or no useful embeddings; empty if it is."""
        if self._loops and len(self._without) >= min(_LOOPS, self._loops):
            return self._no_gradient()
        return f"{self._degenerate}; a lower learning rate may help" if self._degenerate else ""

    def require(self) -> None:
        """Checks, at the end of a run, that it still learned.

        Raises:
          TrainingError: if it did not; says why.
        """
        if self.failure:
            raise TrainingError(self.failure)

    def _no_gradient(self) -> str:
        return (
            f"the gradient has been below {_NO_GRADIENT:g} at every report from step "
            f"{self._without[0]} to {self._without[-1]}, the loss {self._loss:.4g}: nothing is "
            "learned any more; a lower learning rate may help"
        )


def summary(
    facts: dict[str, object], *, trained: dict[str, float], validated: dict[str, float]
) -> str:
    """The summary of a run, as two tables: facts, and the last measurements."""
    names = {LOSS: "loss", "validation_loss": "loss"}
    columns = [
        {names.get(name, name): f"{value:,.4g}" for name, value in measured.items()}
        for measured in (trained, validated)
    ]
    rows = [
        (name, *(column.get(name, "") for column in columns)) for name in columns[0] | columns[1]
    ]
    measures = tabulate(
        rows,
        headers=("", "training", "validation"),
        disable_numparse=True,
        colalign=("left", "right", "right"),
    )
    return f"{tabulate(facts.items(), disable_numparse=True)}\n\n{measures}"

"""What a run reports while it trains: a progress bar, and warnings if nothing is learned."""

import io
import sys
from typing import Any

import numpy as np
import tensorflow as tf
from tqdm import tqdm

from model.data.task_sampler import TaskSampler
from model.errors import TrainingError
from model.losses import GRADIENT_NORM, LOSS

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
        self._loops = self._without = 0
        self._no_gradient = self._degenerate = ""

    def __call__(self, logs: dict[str, float]) -> None:
        """Checks one loop; prints a warning after several without a gradient."""
        self._loops += 1
        has_none = logs[GRADIENT_NORM] < _NO_GRADIENT and logs[LOSS] > _LEARNED
        self._without = self._without + 1 if has_none else 0
        self._no_gradient = (
            f"the gradient has been below {_NO_GRADIENT:g} at {self._without} reports up to step "
            f"{int(self._global_step.numpy())}, the loss {logs[LOSS]:.4g}: nothing is learned any "
            "more"
        )
        if self._without == _LOOPS:
            print(f"warning: {self._no_gradient}")

    def begin_validation(self) -> None:
        """Forgets what the validation before found."""
        self._degenerate = ""

    def validated(self, ids: dict[str, Any], embeddings: np.ndarray) -> None:
        """Checks some sentences of a validation; warns if embeddings are all equal, or not finite.

        Args:
          ids: of the sentences, [batch, tokens] each.
          embeddings: of unit length, [batch, dim].
        """
        differ = any(np.ptp(values, axis=0).any() for values in ids.values())
        if not np.isfinite(embeddings).all():
            what = "not finite"
        elif differ and np.var(embeddings.astype(np.float64), axis=0).sum() < _ONE_POINT:
            what = "one point"
        else:
            return
        self._degenerate = (
            f"the embeddings of {len(embeddings)} sentences are {what} at step "
            f"{int(self._global_step.numpy())}"
        )
        print(f"warning: {self._degenerate}")

    @property
    def failure(self) -> str:
        """Why the model is of no use: no gradient, or no useful embeddings; empty if it is."""
        has_none = self._loops and self._without >= min(_LOOPS, self._loops)
        why = self._no_gradient if has_none else self._degenerate
        return why and f"{why}; a lower learning rate may help"

    def require(self) -> None:
        """Checks, at the end of a run, that it still learned.

        Raises:
          TrainingError: if it did not; says why.
        """
        if self.failure:
            raise TrainingError(self.failure)

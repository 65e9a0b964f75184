"""What a run prints: a progress bar, what Orbit says beside it, and a table at the end."""

import io
import sys

import tensorflow as tf
from tabulate import tabulate
from tqdm import tqdm

from model.data.task_sampler import Schedule
from model.training import train_step

_SHOWN = ("p_at_1", "nli_accuracy")


class Progress:
    """A bar over the pairs of the whole run: pairs/s, time left, loss.

    Orbit calls it after every `steps_per_loop` steps.
    """

    def __init__(self, schedule: Schedule, *, steps: int, global_step: tf.Variable):
        self._schedule = schedule
        self._global_step = global_step
        self.logs: dict[str, float] = {}
        """The last that training said."""
        self._bar = tqdm(
            total=self._records(steps),
            initial=self._records(int(global_step.numpy())),
            desc="training",
            unit=" pairs",
            unit_scale=True,
            dynamic_ncols=True,
        )

    def __call__(self, logs: dict[str, float]) -> None:
        """Moves the bar to the current step."""
        self.logs = logs
        shown = {name: f"{logs[name]:.3f}" for name in _SHOWN if name in logs}
        self._bar.set_postfix({"loss": f"{logs[train_step.LOSS]:.3f}"} | shown, refresh=False)
        self._bar.update(self._records(int(self._global_step.numpy())) - self._bar.n)

    def _records(self, steps: int) -> int:
        tasks = range(len(self._schedule.data))
        return sum(self._schedule.records(task, before=steps) for task in tasks)

    def close(self) -> None:
        """Leaves the finished bar on the screen."""
        self._bar.close()


class BesideProgress(io.TextIOBase):
    """Standard output while a bar is drawn: what is printed goes above the bar.

    Left out is what Orbit prints of each loop, since the bar says it, and of each validation,
    since `Validator` does.
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


def summary(
    facts: dict[str, object], *, trained: dict[str, float], validated: dict[str, float]
) -> str:
    """What came of a run, as two tables: facts, and what was measured last."""
    names = {train_step.LOSS: "loss", "validation_loss": "loss"}
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

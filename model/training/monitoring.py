"""What a run shows while it trains, and whether it still learns."""

import io
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, redirect_stdout
from typing import Any

import numpy as np
import tensorflow as tf
from tqdm import tqdm

from model.losses import LOSS

_GAP = 0.3
"""Between a metric in training and in validation; larger is overfitting."""
_ONE_POINT = 1e-6
"""Variance of unit vectors below which scores are equal but for rounding; before the first step it
is 0.14 to 0.78 with the encoders of the laptop presets."""


@contextmanager
def progress(
    steps: int, global_step: tf.Variable, metrics: Sequence[str]
) -> Iterator[Callable[[dict[str, float]], None]]:
    """A bar over the steps of a run; yields what Orbit calls after every loop with its logs."""
    names = {LOSS: "loss"} | {name: name for name in metrics} | {"pairs_per_second": "pairs/s"}
    bar = tqdm(
        desc="training",
        unit=" steps",
        total=steps,
        initial=int(global_step.numpy()),
        dynamic_ncols=True,
    )

    def advance(logs: dict[str, float]) -> None:
        shown = {said: f"{logs[name]:,.4g}" for name, said in names.items() if name in logs}
        bar.set_postfix(shown, refresh=False)
        bar.update(int(global_step.numpy()) - bar.n)

    with closing(bar), redirect_stdout(BesideBar()):
        yield advance


class BesideBar(io.TextIOBase):
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


def collapse(ids: dict[str, Any], embeddings: np.ndarray) -> str:
    """What makes embeddings useless: all are equal, or not finite; empty if nothing does.

    Of sentences, int32 [batch, tokens] of each kind, and their embeddings, float32 [batch, dim].
    With a learning rate that is far too high, vectors become so long that, L2-normalized, nothing
    moves them: the loss stays finite.
    """
    differ = any(np.ptp(values, axis=0).any() for values in ids.values())
    spread = np.var(embeddings.astype(np.float64), axis=0).sum()
    if not np.isfinite(spread):
        return f"the embeddings of {len(embeddings)} sentences are not finite"
    if differ and spread < _ONE_POINT:
        return f"the embeddings of {len(embeddings)} sentences are one point"
    return ""


def overfitting(
    trained: dict[str, float],
    validated: dict[str, float],
    metrics: Sequence[str],
    *,
    candidates: tuple[int, int],
) -> str:
    """Which of the metrics is far higher in training than in validation; empty if none is.

    `candidates` are the responses that an input is ranked among, in training and in validation.
    Among more, P@1 is lower: at least the power of it that independent candidates would give.
    """
    here, there = candidates
    harder = max(1.0, (there - 1) / (here - 1)) if here > 1 else 1.0
    for name in metrics:
        power = harder if name == "p_at_1" else 1.0
        if name in trained and trained[name] ** power - validated[name] > _GAP:
            return (
                f"{name} is {trained[name]:.4f} in training and {validated[name]:.4f} in "
                "validation: the model overfits. More data, fewer steps, more dropout or "
                "trainer.early_stopping_patience may help"
            )
    return ""

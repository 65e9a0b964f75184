"""Whether a run still learns: by its gradient, and by embeddings that are not all one point.

A rate that is far too high makes vectors so long that, at unit length, nothing moves them any
more: the loss stays finite, and the run would end as if all were well. What is looked at is known
anyway, the norm of the gradient, or costs one batch a validation.
"""

from typing import Any

import numpy as np
import tensorflow as tf

from model.errors import TrainingError
from model.training import train_step

_LOOPS = 3
"""So many loops in a row end without a gradient before it is said."""
_NO_GRADIENT = 1e-9
"""A norm below this moves no weight: what is left is rounding."""
_LEARNED = 1e-3
"""A loss below this may have no gradient left."""
_ONE_POINT = 1e-6
"""The variance of unit vectors below which their scores are equal but for rounding; before the
first step it is 0.14 to 0.78 with the encoders of the laptop presets."""


class Learning:
    """Called with what each loop of training says, and what validation encodes."""

    def __init__(self, global_step: tf.Variable):
        self._global_step = global_step
        self._loops = 0
        self._still: list[int] = []
        """Steps of the last loops in a row that ended without a gradient."""
        self._loss = 0.0
        self._collapsed: str | None = None

    def __call__(self, logs: dict[str, float]) -> None:
        """Looks at one loop; after several without a gradient prints a line."""
        self._loops += 1
        self._loss = logs[train_step.LOSS]
        if logs[train_step.GRADIENT_NORM] < _NO_GRADIENT and self._loss > _LEARNED:
            self._still.append(int(self._global_step.numpy()))
        else:
            self._still.clear()
        if len(self._still) == _LOOPS:
            print(f"warning: {self._no_gradient()}")

    def validated(self, ids: dict[str, Any], embeddings: np.ndarray) -> None:
        """Looks at some sentences of a validation, and prints a line if all are one point.

        Args:
          ids: of the sentences, [batch, tokens] each.
          embeddings: of unit length, [batch, dim].
        """
        differ = any(np.ptp(values, axis=0).any() for values in ids.values())
        if differ and np.var(embeddings.astype(np.float64), axis=0).sum() < _ONE_POINT:
            self._collapsed = (
                f"the embeddings of {len(embeddings)} sentences are one point at step "
                f"{int(self._global_step.numpy())}: the encoder has collapsed"
            )
            print(f"warning: {self._collapsed}")
        else:
            self._collapsed = None

    def require(self) -> None:
        """Makes sure that the run ends as one that learns.

        Raises:
          TrainingError: if the last loops had no gradient, or the embeddings are one point.
        """
        if self._loops and len(self._still) >= min(_LOOPS, self._loops):
            raise TrainingError(self._no_gradient())
        if self._collapsed:
            raise TrainingError(f"{self._collapsed}; a lower learning rate may help")

    def _no_gradient(self) -> str:
        return (
            f"the gradient has been below {_NO_GRADIENT:g} at every report from step "
            f"{self._still[0]} to {self._still[-1]}, the loss {self._loss:.4g}: nothing is learned "
            "any more; a lower learning rate may help"
        )

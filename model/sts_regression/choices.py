"""The settings of the regressors, where the paper leaves them open, and two presets."""

import dataclasses
import math
from dataclasses import dataclass
from typing import Any

from model.errors import InputError

RANDOM = "random"
SENTENCES = "sentences"
WAYS = (RANDOM, SENTENCES)
"""How folds are made, see `data.folds`."""
FRESH = "fresh"
CARRIED = "carried"
WEIGHTS = (FRESH, CARRIED)
"""Where the weights of a fold begin."""
HIGHEST_SEED = 2**32 - 1
_ONE_OF: dict[str, tuple[str, ...]] = {
    "gates": ("printed", "bounded", "keras", "elu", "standard"),
    "recurrent_initializer": ("HeNormal", "Orthogonal"),
    "encoders": ("two", "one"),
    "concatenation": ("features", "time"),
    "comparator_output": ("perceptron", "node"),
    "unknown_words": ("zero", "mean"),
    "padding": ("masked", "after", "before"),
    "folds_by": WAYS,
    "weights_between_folds": WEIGHTS,
}


@dataclass(frozen=True, kw_only=True)
class Choices:
    """The defaults are the paper's; where it is silent or contradicts itself, our reading."""

    folds: int = 10
    folds_by: str = RANDOM
    """`random`, as in the paper; `sentences`: no sentence both trains and is held out."""
    weights_between_folds: str = FRESH
    """`fresh`: every fold begins with new weights. `carried`: it begins with those of the fold
    before, as in Keras code that builds a model once and calls `fit` for each fold; from the second
    fold on, the pairs held out have already trained. The optimizer begins anew in both."""
    epoch_share: float = 1.0
    """The share of each row's epochs that is trained."""
    units: int = 0
    """Of an LSTM and of the perceptron's hidden layer; 0: the dimension of the word vectors ("a
    number of hidden units equal to that of the word embedding's number of dimensions")."""
    batch: int = 32
    """Not in the paper; Keras's default."""
    learning_rate: float = 1e-4
    clip_norm: float = 0.0
    """Of the global gradient norm; 0: no clipping, as in the paper."""
    seed: int = 0
    gates: str = "printed"
    """One of `layers.lstm.GATES`."""
    recurrent_initializer: str = "HeNormal"
    """"The initial weights of each unit are randomly initialized using the He normal
    distribution"; `Orthogonal` is what Keras does if only `kernel_initializer` is set."""
    encoders: str = "two"
    """`two`, with separate weights ("A single LSTM per sentence", "two stacks of LSTMs"), or `one`
    that embeds both sentences."""
    concatenation: str = "features"
    """Axis on which the two sequences that an LSTM compares are joined: `features` (Keras's default
    axis) or `time`."""
    comparator_output: str = "perceptron"
    """What maps the last output of a comparing LSTM to a score: a `perceptron` ("we keep the
    multi-layered perceptron at the end of the comparator component for most models") or a single
    `node`."""
    train_vectors: bool = False
    """Whether word vectors are trained too ("the initial state of the word vectors")."""
    unknown_words: str = "zero"
    """The vector of an unknown word: `zero`, or the `mean` of the others."""
    padding: str = "masked"
    """`masked`, or zero vectors that the LSTMs read like words, up to the longest training
    sentence: `after` the words, or `before` them like Keras's `pad_sequences`. SIF ignores it."""
    sif_a: float = 1e-3
    """a of SIF; the paper gives no number, this one is from Arora et al."""

    def epochs(self, whole: int) -> int:
        """The number of epochs of a row that has `whole` in the paper."""
        return max(1, round(whole * self.epoch_share))

    def __post_init__(self) -> None:
        for name, accepted in _ONE_OF.items():
            if getattr(self, name) not in accepted:
                raise InputError(
                    f"{name}: {getattr(self, name)!r}; accepted: {', '.join(accepted)}"
                )
        for name in ("epoch_share", "batch", "learning_rate", "sif_a"):
            if not 0 < getattr(self, name) < math.inf:
                raise InputError(
                    f"{name}: {getattr(self, name)}; accepted: numbers above 0, below infinity"
                )
        for name in ("units", "clip_norm", "seed"):
            if not 0 <= getattr(self, name) < math.inf:
                raise InputError(
                    f"{name}: {getattr(self, name)}; "
                    "accepted: numbers of at least 0, below infinity"
                )
        if self.seed > HIGHEST_SEED:
            raise InputError(f"seed: {self.seed}; accepted: numbers from 0 to {HIGHEST_SEED}")


PRESETS: dict[str, dict[str, Any]] = {
    "paper": {},
    "quick": {
        "folds": 3,
        "epoch_share": 0.6,
        "units": 50,
        "learning_rate": 1e-3,
        "clip_norm": 1.0,
        "gates": "bounded",
    },
}
"""Their differences from the defaults."""


def accepted(name: str) -> tuple[str, ...] | None:
    """The accepted values of a choice; None for numbers."""
    return _ONE_OF.get(name)


def of(preset: str, changes: dict[str, Any]) -> Choices:
    """The choices of a preset with changes."""
    return dataclasses.replace(Choices(), **(PRESETS[preset] | changes))

"""How a regressor is trained and cross-validated, and the two presets of it."""

from dataclasses import dataclass

RANDOM, SENTENCES = FOLDS_BY = ("random", "sentences")
"""How pairs are put into folds, see `data.folds`."""
FRESH, CARRIED = WEIGHTS = ("fresh", "carried")
"""`fresh`: every fold starts with new weights. `carried`: with those of the fold before, as in
Keras code that builds a model once and calls `fit` for each fold; from the second fold on, the
pairs held out have already trained. The optimizer starts anew in both."""
GATES = ("printed", "bounded", "keras")
"""Readings of section 3.2.2, see `layers.lstm`."""
MASKED, BEFORE = PADDING = ("masked", "before")


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The defaults are the paper's; where it is silent or contradicts itself, our reading."""

    folds: int = 10
    epoch_share: float = 1.0
    """The share of each row's epochs that is trained."""
    units: int = 0
    """Of an LSTM and of the perceptron's hidden layer; 0: the width of the word vectors ("a number
    of hidden units equal to that of the word embedding's number of dimensions")."""
    learning_rate: float = 1e-4
    clip_norm: float = 0.0
    """Of the global gradient norm; 0: no clipping, as in the paper."""
    gates: str = "printed"
    padding: str = MASKED
    """`masked`: LSTMs skip it. `before`: zero vectors before the words, up to the longest training
    sentence, are read like words, as after Keras's `pad_sequences`. SIF ignores it."""
    seed: int = 0

    def epochs(self, whole: int) -> int:
        """The number of epochs of a row that has `whole` in the paper."""
        return max(1, round(whole * self.epoch_share))


PRESETS = {
    "paper": Settings(),
    "quick": Settings(
        folds=3, epoch_share=0.6, units=50, learning_rate=1e-3, clip_norm=1.0, gates="bounded"
    ),
}

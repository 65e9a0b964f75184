"""How regressors are trained and cross-validated: presets, and the options of the command."""

from dataclasses import dataclass, replace
from pathlib import Path

from common.command_line import Options, option
from model.sts_regression.experiments import TABLE_2

RANDOM, SENTENCES = FOLDS_BY = ("random", "sentences")
FRESH, CARRIED = WEIGHTS = ("fresh", "carried")
"""`fresh`: every fold starts with new weights. `carried`: with those of the fold before, as in
Keras code that builds a model once and calls `fit` for each fold; from the second fold on, the
pairs held out have already trained. The optimizer starts anew in both."""


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
    """A key of `layers.GATES`."""
    seed: int = 0
    """Of weights, folds and the order of pairs."""

    def epochs(self, whole: int) -> int:
        """The number of epochs of a row that has `whole` in the paper."""
        return max(1, round(whole * self.epoch_share))


_QUICK = Settings(
    folds=3, epoch_share=0.6, units=50, learning_rate=1e-3, clip_norm=1.0, gates="bounded"
)
PRESETS = {
    "paper": Settings(),
    "quick": _QUICK,
    # With carried weights, ten folds then train about as long as the paper's rows.
    "short": replace(_QUICK, folds=10, epoch_share=0.12),
}


@dataclass(frozen=True, kw_only=True)
class RunOptions(Options):
    """Cross-validation of rows of table 2."""

    data: Path = option(help="folder with sts2016/ and sts2017_track5/", metavar="DIR")
    vectors: Path = option(help="word vectors in GloVe's format", metavar="FILE")
    preset: str = option("paper", help="the paper's setting, or faster ones", choices=(*PRESETS,))
    seed: int = option(0, help="of weights, folds and order", minimum=0, maximum=2**32 - 1)
    output: Path = option(help="folder of results; folds that are there are kept", metavar="DIR")
    rows: tuple[str, ...] = option(
        (), help="such as lstm2_lstm2; default: all 11", metavar="NAME", choices=(*TABLE_2,)
    )
    folds: int | None = option(None, help="number of folds; default: the preset's", minimum=2)
    folds_by: tuple[str, ...] = option(
        (RANDOM,), help="sentences: no sentence both trains and is held out", choices=FOLDS_BY
    )
    weights_between_folds: tuple[str, ...] = option(
        (FRESH,),
        help="carried: each fold starts with the weights of the fold before",
        choices=WEIGHTS,
    )

    def settings(self) -> Settings:
        """The preset with what was given."""
        preset = PRESETS[self.preset]
        return replace(preset, seed=self.seed, folds=self.folds or preset.folds)

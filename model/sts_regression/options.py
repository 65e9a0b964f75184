"""The rows of table 2 of Prijatelj et al. 2017, their training, and options of the command."""

from dataclasses import dataclass, replace
from pathlib import Path

from common.command_line import Options, option

RANDOM, SENTENCES = FOLDS_BY = ("random", "sentences")
FRESH, CARRIED = WEIGHTS = ("fresh", "carried")
"""`fresh`: every fold starts with new weights. `carried`: with those of the fold before, as in
Keras code that builds a model once and calls `fit` for each fold; from the second fold on, the
pairs held out have already trained. The optimizer starts anew in both."""


@dataclass(frozen=True)
class Experiment:
    """A row of table 2: embedding and comparator, methods of `layers.Network`."""

    label: str
    paper: tuple[float, float]
    """Pearson's r out of sample and in sample, as printed there."""
    embedding: str = "lstm_stack"
    comparator: str = "perceptron"
    layers: int = 1
    """Of a stack of LSTMs, in the embedding and in the comparator."""
    epochs: int = 50


TABLE_2 = {
    "lstm2_lstm2": Experiment(
        "2 LSTM Stack and 2 LSTM Stack", (0.8608, 0.9963), comparator="lstm_comparator", layers=2
    ),
    "lstm10_perceptron": Experiment("10 LSTM Stack and Perceptron", (0.7824, 0.9082), layers=10),
    "lstm2_perceptron": Experiment("2 LSTM Stack and Perceptron", (0.7595, 0.8757), layers=2),
    "lstm3_perceptron": Experiment("3 LSTM Stack and Perceptron", (0.7235, 0.8275), layers=3),
    "lstm4_perceptron": Experiment("4 LSTM Stack and Perceptron", (0.7150, 0.8269), layers=4),
    "lstm5_perceptron": Experiment("5 LSTM Stack and Perceptron", (0.4538, 0.6465), layers=5),
    "lstm1_perceptron": Experiment("1 LSTM and Perceptron", (0.4301, 0.5445)),
    "lstm1_lstm1": Experiment("1 LSTM and 1 LSTM", (0.4163, 0.9902), comparator="lstm_comparator"),
    "l2_lstm_50": Experiment(
        "L2-LSTM 50 epochs", (0.2740, 0.3537), "bidirectional_lstm", "distance"
    ),
    "sif_perceptron": Experiment("SIF and Perceptron", (0.2214, 0.8795), "sif", epochs=100),
    "l2_lstm_100": Experiment(
        "L2-LSTM 100 epochs", (0.2183, 0.3066), "bidirectional_lstm", "distance", epochs=100
    ),
}
"""In the order of table 2: by falling score."""


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
    """Cross-validate the rows of table 2."""

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

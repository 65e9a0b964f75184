"""The options of `run` and `export`."""

import dataclasses
from dataclasses import dataclass
from pathlib import Path

from common.command_line import Options, option
from common.errors import InputError
from model.sts_regression.settings import (
    CARRIED,
    FOLDS_BY,
    FRESH,
    GATES,
    PADDING,
    PRESETS,
    RANDOM,
    WEIGHTS,
    Settings,
)

STS2016, STSB = CORPORA = ("sts2016", "stsb")
"""What can be trained on."""
HIGHEST = 5.0
"""Scores are in [0, HIGHEST]."""


@dataclass(frozen=True, kw_only=True)
class TrainingOptions(Options):
    """What both commands need to train a regressor."""

    data: Path = option(help="folder with sts2016/ and sts2017_track5/, or stsb/", metavar="DIR")
    corpus: str = option(STS2016, help="training pairs", choices=CORPORA)
    vectors: Path = option(
        help="word vectors: a file in GloVe's format, or a SavedModel with the signature "
        "word_vectors",
        metavar="PATH",
    )
    dim: int | None = option(None, help="width that the vectors must have", minimum=1)
    preset: str = option("paper", help="the paper's setting, or a quick one", choices=(*PRESETS,))
    epoch_share: float | None = option(
        None, help="share of each row's epochs that is trained", minimum=1e-6, maximum=1e6
    )
    learning_rate: float | None = option(None, help="of RMSprop", minimum=1e-12, maximum=1e12)
    gates: str | None = option(None, help="reading of section 3.2.2", choices=GATES)
    padding: str | None = option(
        None, help="whether LSTMs skip padding, or read it before the words", choices=PADDING
    )
    seed: int | None = option(
        None, help="of weights, folds and order; default: 0", minimum=0, maximum=2**32 - 1
    )

    def settings(self) -> Settings:
        """The preset with what was given."""
        names = [field.name for field in dataclasses.fields(Settings)]
        given = {name: getattr(self, name, None) for name in names}
        changes = {name: value for name, value in given.items() if value is not None}
        return dataclasses.replace(PRESETS[self.preset], **changes)


@dataclass(frozen=True, kw_only=True)
class RunOptions(TrainingOptions):
    """Cross-validation of rows of table 2."""

    output: Path = option(help="folder of results; folds that are there are kept", metavar="DIR")
    rows: tuple[str, ...] = option(
        (), help="names such as lstm2_lstm2; default: all 11", metavar="NAME"
    )
    module: Path | None = option(
        None, help="SavedModel; adds the cosine of its embeddings as two rows", metavar="DIR"
    )
    folds: int | None = option(None, help="number of folds", minimum=2)
    folds_by: tuple[str, ...] = option(
        (RANDOM,),
        help="sentences: no sentence both trains and is held out; both: also compare them",
        choices=FOLDS_BY,
    )
    weights_between_folds: tuple[str, ...] = option(
        (FRESH,),
        help="carried: each fold starts with the weights of the fold before; both: also compare "
        "them with the paper's figures",
        choices=WEIGHTS,
    )

    def __post_init__(self) -> None:
        """Refuses what the STS Benchmark, which has its own split, does not have."""
        super().__post_init__()
        if self.corpus == STSB and (
            self.folds or self.folds_by != (RANDOM,) or CARRIED in self.weights_between_folds
        ):
            raise InputError(
                f"--folds, --folds_by, --weights_between_folds {CARRIED}: {STSB} has its own "
                "split; accepted: none of them"
            )


@dataclass(frozen=True, kw_only=True)
class ExportOptions(TrainingOptions):
    """A SavedModel of one row."""

    output: Path = option(help="folder to write", metavar="DIR")
    row: str = option(help="a row of table 2, such as lstm2_lstm2", metavar="NAME")

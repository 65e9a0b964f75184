"""The 11 rows of table 2 of Prijatelj et al. 2017, each a named experiment, and a user's own.

A user's row is an `Experiment` in a Python file that `--rows_file` names. Embeddings and
comparators are functions of Keras tensors, which may use any layer of tf_keras:

    def mean(words, materials):
        real = tf.cast(words.mask, tf.float32)[:, :, tf.newaxis]
        found = tf.reduce_sum(words.vectors * real, axis=1) / tf.reduce_sum(real, axis=1)
        return Embedded(found, found[:, tf.newaxis], words.mask[:, :1])

    EXPERIMENTS = {"mine": Experiment("Mean and Perceptron", mean, perceptron, epochs=50)}

`layers/embeddings.py` has `Words`, `Materials` and `Embedded`; `layers/comparators.py` has
`perceptron` and the other comparators.
"""

import runpy
import traceback
from functools import partial
from pathlib import Path

from model.errors import InputError
from model.sts_regression.layers.comparators import distance, lstm_comparator, perceptron
from model.sts_regression.layers.embeddings import bidirectional_lstm, lstm_stack, sif
from model.sts_regression.layers.materials import Experiment


def _stack(layers: int, paper: tuple[float, float]) -> Experiment:
    name = "1 LSTM" if layers == 1 else f"{layers} LSTM Stack"
    return Experiment(
        f"{name} and Perceptron",
        partial(lstm_stack, layers=layers),
        perceptron,
        paper=paper,
        cost=2 * layers,
    )


def _l2_lstm(epochs: int, paper: tuple[float, float]) -> Experiment:
    return Experiment(
        f"L2-LSTM {epochs} epochs",
        bidirectional_lstm,
        distance,
        epochs=epochs,
        paper=paper,
        cost=4 * epochs // 50,
    )


COSINE, TUNED_COSINE = "cosine", "tuned_cosine"
COSINES = (COSINE, TUNED_COSINE)
"""Rows for a module, beside those of table 2."""
TABLE_2 = {
    "lstm2_lstm2": Experiment(
        "2 LSTM Stack and 2 LSTM Stack",
        partial(lstm_stack, layers=2),
        partial(lstm_comparator, layers=2),
        paper=(0.8608, 0.9963),
        cost=7,
    ),
    "lstm10_perceptron": _stack(10, (0.7824, 0.9082)),
    "lstm2_perceptron": _stack(2, (0.7595, 0.8757)),
    "lstm3_perceptron": _stack(3, (0.7235, 0.8275)),
    "lstm4_perceptron": _stack(4, (0.7150, 0.8269)),
    "lstm5_perceptron": _stack(5, (0.4538, 0.6465)),
    "lstm1_perceptron": _stack(1, (0.4301, 0.5445)),
    "lstm1_lstm1": Experiment(
        "1 LSTM and 1 LSTM",
        partial(lstm_stack, layers=1),
        partial(lstm_comparator, layers=1),
        paper=(0.4163, 0.9902),
        cost=4,
    ),
    "l2_lstm_50": _l2_lstm(50, (0.2740, 0.3537)),
    "sif_perceptron": Experiment(
        "SIF and Perceptron", sif, perceptron, epochs=100, paper=(0.2214, 0.8795)
    ),
    "l2_lstm_100": _l2_lstm(100, (0.2183, 0.3066)),
}
"""In the order of table 2: by falling score."""


def load(path: Path | None) -> dict[str, Experiment]:
    """Table 2, and the `EXPERIMENTS` of a Python file.

    Raises:
      InputError: if the file has no EXPERIMENTS, fails, or uses the name of another row.
    """
    if path is None:
        return TABLE_2
    if not path.is_file():
        raise InputError(f"{path}: no such file of experiments")
    try:
        own = runpy.run_path(str(path)).get("EXPERIMENTS")
    except Exception as error:  # the user's code may raise anything
        last = traceback.extract_tb(error.__traceback__)[-1]
        line = error.lineno if isinstance(error, SyntaxError) else last.lineno
        raise InputError(f"{path}:{line}: {type(error).__name__}: {error}") from error
    if not own or not isinstance(own, dict) or not all(map(_is_experiment, own.values())):
        raise InputError(f"{path}: EXPERIMENTS must be a dict of one or more names and Experiments")
    if taken := sorted(own.keys() & {*TABLE_2, *COSINES}):
        raise InputError(f"{path}: EXPERIMENTS has {taken[0]!r}; accepted: names of its own")
    labels = [row.label for row in (*TABLE_2.values(), *own.values())]
    if twice := next((label for label in labels if labels.count(label) > 1), None):
        raise InputError(f"{path}: the label {twice!r} is of two rows; accepted: one label a row")
    return TABLE_2 | own


def _is_experiment(value: object) -> bool:
    return isinstance(value, Experiment)

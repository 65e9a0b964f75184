"""The 11 rows of table 2 of Prijatelj et al. 2017, and the two of a module's cosine beside them."""

from functools import partial

from model.sts_regression.layers.comparators import distance, lstm_comparator, perceptron
from model.sts_regression.layers.embeddings import bidirectional_lstm, lstm_stack, sif
from model.sts_regression.layers.materials import Experiment

COSINE, TUNED_COSINE = "cosine", "tuned_cosine"
COSINES = {COSINE: "Cosine of the module", TUNED_COSINE: "Cosine of the module, tuned"}
"""Rows of a module, and their labels."""


def _stack(layers: int, paper: tuple[float, float]) -> Experiment:
    name = "1 LSTM" if layers == 1 else f"{layers} LSTM Stack"
    embedding = partial(lstm_stack, layers=layers)
    return Experiment(f"{name} and Perceptron", embedding, perceptron, paper=paper)


def _compared_by_lstms(label: str, layers: int, paper: tuple[float, float]) -> Experiment:
    embedding = partial(lstm_stack, layers=layers)
    return Experiment(label, embedding, partial(lstm_comparator, layers=layers), paper=paper)


def _l2_lstm(epochs: int, paper: tuple[float, float]) -> Experiment:
    label = f"L2-LSTM {epochs} epochs"
    return Experiment(label, bidirectional_lstm, distance, epochs=epochs, paper=paper)


TABLE_2 = {
    "lstm2_lstm2": _compared_by_lstms("2 LSTM Stack and 2 LSTM Stack", 2, (0.8608, 0.9963)),
    "lstm10_perceptron": _stack(10, (0.7824, 0.9082)),
    "lstm2_perceptron": _stack(2, (0.7595, 0.8757)),
    "lstm3_perceptron": _stack(3, (0.7235, 0.8275)),
    "lstm4_perceptron": _stack(4, (0.7150, 0.8269)),
    "lstm5_perceptron": _stack(5, (0.4538, 0.6465)),
    "lstm1_perceptron": _stack(1, (0.4301, 0.5445)),
    "lstm1_lstm1": _compared_by_lstms("1 LSTM and 1 LSTM", 1, (0.4163, 0.9902)),
    "l2_lstm_50": _l2_lstm(50, (0.2740, 0.3537)),
    "sif_perceptron": Experiment(
        "SIF and Perceptron", sif, perceptron, epochs=100, paper=(0.2214, 0.8795)
    ),
    "l2_lstm_100": _l2_lstm(100, (0.2183, 0.3066)),
}
"""In the order of table 2: by falling score."""

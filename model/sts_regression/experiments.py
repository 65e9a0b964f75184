"""The 11 rows of table 2 of Prijatelj et al. 2017."""

from dataclasses import dataclass


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

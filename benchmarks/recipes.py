"""The recipes of `make reproduce`, and one choice of each changed after the other."""

from typing import NamedTuple

MODEL = "task.model"
DAN = f"{MODEL}.encoder.averaging"
OBJECTIVE = "task.objective"
OPTIMIZER = "trainer.optimizer_config"
RATE = f"{OPTIMIZER}.learning_rate.polynomial"
WARMUP = f"{OPTIMIZER}.warmup.linear.warmup_steps"
BASE: dict[str, object] = {f"{DAN}.word_dim": 500}
AS_IT_STANDS = ("as it stands", "seed 1", "seed 2")
SEEDS: dict[str, dict[str, object]] = dict(
    zip(AS_IT_STANDS, ({}, {"task.seed": 1}, {"task.seed": 2}), strict=True)
)
BEGUN = "task.init_checkpoint"
PASSES = "passes"
"""Not a parameter: how many times as many pairs a row trains on."""
NLI_FOLDERS = "nli folders"
"""Not a parameter: which folders of inference it trains on."""


def _rate(start: float, end: float) -> dict[str, object]:
    return {f"{RATE}.initial_learning_rate": start, f"{RATE}.end_learning_rate": end}


WAYS: dict[str, dict[str, object]] = SEEDS | {
    "response network not added to its input": {f"{MODEL}.response_network.residual": False},
    "word vectors begin at random": {"task.word_cooccurrence_records": 0},
    "vectors of frequent words begin as long as others": {"task.word_frequency_records": 0},
    "word vectors begin at random and equally long": {
        "task.word_cooccurrence_records": 0,
        "task.word_frequency_records": 0,
    },
    "none of these": {
        f"{MODEL}.response_network.residual": False,
        "task.word_cooccurrence_records": 0,
        "task.word_frequency_records": 0,
    },
    "words of 300 numbers": {f"{DAN}.word_dim": 300},
    "embeddings of 768, words of 768": {f"{DAN}.word_dim": 768, f"{DAN}.embedding_dim": 768},
    "two hidden layers of 500 in the encoder": {f"{DAN}.hidden": "[500,500]"},
    "a hidden layer of 500 in the response network": {f"{MODEL}.response_network.hidden": "[500]"},
    "no bigrams": {f"{DAN}.bigram_dropout": 0.999},
    "half of the bigrams dropped, not 0.9": {f"{DAN}.bigram_dropout": 0.5},
    "no word dropout": {f"{DAN}.word_dropout": 0.0},
    "word dropout 0.4": {f"{DAN}.word_dropout": 0.4},
    "twice the passes": {PASSES: 2},
    "half of the passes": {PASSES: 0.5},
    "word dropout 0.4 and twice the passes": {f"{DAN}.word_dropout": 0.4, PASSES: 2},
    "tables of 400,000 words and 1,000,000 bigrams": {
        f"{MODEL}.text.word_buckets": 400_000,
        f"{MODEL}.text.bigram_buckets": 1_000_000,
    },
    "batches of 1,024": {
        "task.train_data.global_batch_size": 1024,
        **_rate(0.0085, 0.00042),
    },
    "batches of 256": {"task.train_data.global_batch_size": 256, **_rate(0.0042, 0.00021)},
    "score scale 10": {f"{MODEL}.score_scale": 10.0},
    "score scale 30": {f"{MODEL}.score_scale": 30.0},
    "learned score scale": {f"{MODEL}.learned_score_scale": True},
    "both directions": {f"{OBJECTIVE}.both_directions": True},
    "margin 0.1": {f"{OBJECTIVE}.margin": 0.1},
    "duplicates masked": {f"{OBJECTIVE}.mask_duplicates": True},
    "average of the weights, decay 0.99": {"trainer.average_decay": 0.99},
    "rate 0.003": _rate(0.003, 0.00015),
    "rate 0.012": _rate(0.012, 0.0006),
    "no warm-up": {WARMUP: 1},
    "SGD at 3": {f"{OPTIMIZER}.optimizer.type": "sgd", **_rate(3.0, 0.15)},
    "SGD at 0.01, the paper's": {f"{OPTIMIZER}.optimizer.type": "sgd", **_rate(0.01, 0.01)},
}
"""Each row, and the parameters that make it."""
NLI_WAYS: dict[str, dict[str, object]] = SEEDS | {
    "from the beginning, not from a model of replies": {BEGUN: ""},
    "no pair of inference twice": {NLI_FOLDERS: "train"},
    "pairs of all sources once": {NLI_FOLDERS: "all"},
    "pairs of SNLI alone": {NLI_FOLDERS: "again"},
    "one classifier": {f"{MODEL}.nli.members": 1},
    "labels not smoothed": {f"{MODEL}.nli.label_smoothing": 0.0},
    "no dropout of features": {f"{MODEL}.nli.feature_dropout": 0.0},
    "nothing pooled over words": {f"{MODEL}.nli.max_units": 0},
    "no hidden layer": {f"{MODEL}.nli.hidden": "[]"},
    "rate 0.006": _rate(0.006, 0.0003),
    "rate 0.035": _rate(0.035, 0.001),
    "three tenths of the steps on inference": {"task.nli.share": 0.3},
    "nine tenths of the steps on inference": {"task.nli.share": 0.9},
}
"""The same of inference."""


class Recipe(NamedTuple):
    """A preset, what is changed of it, and what is looked at."""

    preset: str
    experiment: str
    ways: dict[str, dict[str, object]]
    figures: dict[str, str]
    """Scalars of the validation, and their names in the table."""


_FIGURES = {"p_at_1": "P@1", "p_at_10": "P@10", "sts_dev_pearson": "STS-B dev, Pearson"}
SELECTION = Recipe("laptop_dan", "reddit", WAYS, _FIGURES)
INFERENCE = Recipe(
    "laptop_dan_nli", "reddit_nli", NLI_WAYS, {"nli_accuracy": "NLI dev, accuracy"} | _FIGURES
)

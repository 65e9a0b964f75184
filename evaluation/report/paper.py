"""The numbers of Yang et al. 2018, "Learning Semantic Textual Similarity from Conversations".

And, at the end, of Prijatelj et al. 2017. All as fractions. Each table lists its rows in its
paper's order.
"""

from evaluation.data.sts_benchmark import OFFICIAL_COUNTS

# Table 1: response prediction on Reddit, the true response among 100.
TABLE_1 = {
    "Transformer": {"p_at_1": 0.657, "p_at_3": 0.787, "p_at_10": 0.898},
    "DAN": {"p_at_1": 0.561, "p_at_3": 0.702, "p_at_10": 0.836},
}

# Table 2: accuracy on SNLI's test set.
TABLE_2 = {
    "Reddit+SNLI": 0.841,
    "InferSent": 0.845,
    "KIM Ensemble": 0.890,
    "Gumbel TreeLSTM": 0.860,
}

# Table 3: Pearson's r on the STS Benchmark.
TABLE_3 = {
    "Reddit+SNLI tuned": {"dev": 0.835, "test": 0.808},
    "Reddit+SNLI": {"dev": 0.814, "test": 0.782},
    "Reddit tuned": {"dev": 0.809, "test": 0.781},
    "Reddit": {"dev": 0.762, "test": 0.731},
    "CNN (HCTI)": {"dev": 0.834, "test": 0.784},
    "InferSent": {"dev": 0.801, "test": 0.758},
    "Sent2Vec": {"dev": 0.787, "test": 0.755},
    "SIF": {"dev": 0.801, "test": 0.720},
    "PV-DBOW": {"dev": 0.722, "test": 0.649},
    "C-PHRASE": {"dev": 0.743, "test": 0.639},
    "ECNU": {"dev": 0.847, "test": 0.810},
    "BIT": {"dev": 0.829, "test": 0.809},
}

# Table 4: Pearson's r on the STS Benchmark by genre; columns of dev, then of test.
GENRES = ("all", "captions", "forums", "news")
TABLE_4 = {
    "Reddit+SNLI": {
        "dev": (0.814, 0.885, 0.756, 0.646),
        "test": (0.782, 0.891, 0.764, 0.585),
    },
    "Reddit": {
        "dev": (0.762, 0.815, 0.751, 0.632),
        "test": (0.731, 0.816, 0.759, 0.578),
    },
    "Reddit+SNLI tuned": {
        "dev": (0.835, 0.888, 0.759, 0.731),
        "test": (0.808, 0.894, 0.767, 0.667),
    },
    "Reddit tuned": {
        "dev": (0.809, 0.843, 0.754, 0.721),
        "test": (0.781, 0.843, 0.762, 0.668),
    },
}

# Table 5: the paper's own examples, from the test set.
TABLE_5 = (
    (
        "good",
        -0.51,
        4.2,
        "a small bird sitting on a branch in winter.",
        "a small bird perched on an icy branch.",
    ),
    ("good", -1.23, 0.0, "microwave would be your best bet.", "your best bet is research."),
    (
        "bad",
        -0.42,
        2.2,
        "a little boy is singing and playing a guitar.",
        "a man is singing and playing the guitar.",
    ),
    (
        "bad",
        -0.45,
        1.0,
        "yes, you have to file a tax return in canada.",
        "you are not required to file a tax return in canada if you have no taxable income.",
    ),
)

# Table 6: MAP on CQA subtask B, the test set of SemEval-2017.
TABLE_6 = {
    "Reddit+SNLI": 0.4742,
    "Reddit": 0.4707,
    "KeLP-contrastive1": 0.4900,
    "SimBow-contrastive2": 0.4787,
    "SimBow-primary": 0.4722,
}

# How many pairs or queries the paper's figures are over (section 4.3; SemEval-2017 Task 3).
# A file of another size is other data, and no figure on it compares with the paper's.
SNLI_TEST_PAIRS = 9824
CQA_QUERIES = {"cqa-SemEval2017-Task3-CQA-QL-test": 88}
STS_PAIRS = {name: sum(of.values()) for name, of in OFFICIAL_COUNTS.items()}
SIZES = STS_PAIRS | CQA_QUERIES | {"snli-test": SNLI_TEST_PAIRS}
RANKING_CANDIDATES = 100

# Prijatelj et al. 2017, table 2: Pearson's r out of sample and in sample, 10 folds of STS 2016.
REGRESSORS = {
    "2 LSTM Stack and 2 LSTM Stack": (0.8608, 0.9963),
    "10 LSTM Stack and Perceptron": (0.7824, 0.9082),
    "2 LSTM Stack and Perceptron": (0.7595, 0.8757),
    "3 LSTM Stack and Perceptron": (0.7235, 0.8275),
    "4 LSTM Stack and Perceptron": (0.7150, 0.8269),
    "5 LSTM Stack and Perceptron": (0.4538, 0.6465),
    "1 LSTM and Perceptron": (0.4301, 0.5445),
    "1 LSTM and 1 LSTM": (0.4163, 0.9902),
    "L2-LSTM 50 epochs": (0.2740, 0.3537),
    "SIF and Perceptron": (0.2214, 0.8795),
    "L2-LSTM 100 epochs": (0.2183, 0.3066),
}
REGRESSORS_CORPUS = "sts2016"

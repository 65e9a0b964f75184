"""The figures of the paper's tables, in NumPy and SciPy; nothing here knows about models.

The ranking figures follow the organisers' scorer of SemEval Task 3 (community question
answering): lists are cut at 10, a query without a relevant candidate scores 0 and stays in
the mean, and candidates with equal scores keep the order of the file. These conventions
reproduce every MAP, AvgRec and MRR the organisers print for subtask B, in 2016 and in 2017.
"""

from collections.abc import Sequence

import numpy as np
import scipy.stats

CUT = 10


def line_errors(score: np.ndarray, gold: np.ndarray) -> np.ndarray:
    """Return what the straight line that fits `gold` best says of each score, less its gold.

    Both are float64 [n]. Where all scores are the same, the line is the mean of the gold scores.
    """
    around = score - score.mean()
    spread = around @ around
    slope = around @ gold / spread if spread > 0 else 0.0
    return slope * around + gold.mean() - gold


def pearson(predicted: np.ndarray, gold: np.ndarray) -> float:
    """Return Pearson's r of two [n] vectors, in [-1, 1] (tables 3 and 4).

    NaN where it is undefined: fewer than two pairs, or one side constant.
    """
    if not _varies(predicted, gold):
        return float("nan")
    return float(scipy.stats.pearsonr(predicted, gold).statistic)


def spearman(predicted: np.ndarray, gold: np.ndarray) -> float:
    """Return Spearman's rank correlation of two [n] vectors; ties share their mean rank.

    NaN where it is undefined, as for `pearson`.
    """
    if not _varies(predicted, gold):
        return float("nan")
    return float(scipy.stats.spearmanr(predicted, gold).statistic)


def _varies(predicted: np.ndarray, gold: np.ndarray) -> bool:
    """Say whether a correlation is defined for these two [n] vectors."""
    if len(predicted) != len(gold):
        raise ValueError(f"{len(predicted)} predicted scores for {len(gold)} gold scores")
    return len(gold) > 1 and np.ptp(predicted) > 0 and np.ptp(gold) > 0


def precision_at(ranks: np.ndarray, n: int) -> float:
    """Return P@N (section 4.1): how often the true response is among the first `n`.

    `ranks` is int [queries]: the rank of each true response, from 1.
    """
    return float(np.mean(np.asarray(ranks) <= n))


def ranked(scores: np.ndarray, relevant: np.ndarray) -> np.ndarray:
    """Return the labels, bool [candidates], by falling score; ties keep their order."""
    return np.asarray(relevant, dtype=bool)[np.argsort(-np.asarray(scores), kind="stable")]


def mean_average_precision(rankings: Sequence[np.ndarray]) -> float:
    """Return MAP (table 6).

    A query's average precision is the mean, over the relevant candidates found in the first
    10, of the precision at their rank. `rankings` holds for each query its labels,
    bool [candidates], best candidate first, as `ranked` gives them.
    """
    return float(np.mean([average_precision(labels) for labels in rankings]))


def average_precision(labels: np.ndarray) -> float:
    """Return one query's average precision; 0 without a relevant candidate in the first 10."""
    positions = np.flatnonzero(labels[:CUT]) + 1
    if not len(positions):
        return 0.0
    return float(np.mean(np.arange(1, len(positions) + 1) / positions))


def mean_reciprocal_rank(rankings: Sequence[np.ndarray]) -> float:
    """Return MRR: the mean of 1 / rank of the first relevant candidate, 0 beyond rank 10."""
    return float(np.mean([reciprocal_rank(labels) for labels in rankings]))


def reciprocal_rank(labels: np.ndarray) -> float:
    """Return 1 / rank of one query's first relevant candidate, 0 beyond rank 10."""
    found = np.flatnonzero(labels[:CUT])
    return 1.0 / (found[0] + 1) if len(found) else 0.0


def average_recall(rankings: Sequence[np.ndarray]) -> float:
    """Return the scorer's AvgRec: the mean over k = 1..10 of hits@k over the most possible.

    Both counts are pooled over all queries before dividing; the most possible at k is the sum
    over queries of min(k, relevant candidates). 0 where no query has a relevant candidate.
    """
    relevant = np.array([np.sum(labels) for labels in rankings])
    if not relevant.any():
        return 0.0
    ratios = []
    for k in range(1, CUT + 1):
        hits = sum(int(np.sum(labels[:k])) for labels in rankings)
        ratios.append(hits / np.minimum(k, relevant).sum())
    return float(np.mean(ratios))


def classification(predicted: np.ndarray, relevant: np.ndarray) -> dict[str, float]:
    """Return the scorer's accuracy, precision, recall and F1 of the label "true".

    Both are bool [candidates], those of all queries pooled. A ratio without a denominator is 0,
    as the scorer has it.
    """
    predicted, relevant = np.asarray(predicted, dtype=bool), np.asarray(relevant, dtype=bool)
    hits = int((predicted & relevant).sum())
    precision = hits / max(1, int(predicted.sum()))
    recall = hits / max(1, int(relevant.sum()))
    both = precision + recall
    return {
        "precision": precision,
        "recall": recall,
        "f1": 2 * precision * recall / both if both else 0.0,
        "accuracy": accuracy(predicted, relevant),
    }


def accuracy(predicted: np.ndarray, gold: np.ndarray) -> float:
    """Return how often two [n] vectors of labels agree (table 2)."""
    if len(predicted) != len(gold) or not len(gold):
        raise ValueError(f"{len(predicted)} predicted labels for {len(gold)} gold labels")
    return float(np.mean(np.asarray(predicted) == np.asarray(gold)))

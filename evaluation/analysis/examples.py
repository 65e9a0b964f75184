"""Pairs that the scores get right and wrong, in the manner of table 5."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from evaluation.metrics.metrics import line_errors
from evaluation.results.result import Result

ALIKE, UNLIKE = 4.0, 1.0  # gold scores from which on, and up to which, a pair is clear


@dataclass(frozen=True)
class Example:
    """A pair, its score and label, and in what way the score is good or bad."""

    verdict: str
    score: float
    gold: float
    sentence1: str
    sentence2: str


def examples(result: Result, *, each: int = 3) -> list[Example]:
    """Return the best alike and unlike pairs, and those scored far too high and too low.

    Scores and labels have different scales: a pair's error is its distance from the straight
    line that fits the labels best.
    """
    if result.metrics["pearson"] is None or not result.items:
        return []
    score = np.array([item["score"] for item in result.items])
    gold = np.array([item["gold"] for item in result.items])
    error = line_errors(score, gold)
    closest = np.argsort(np.abs(error), kind="stable")
    by_error = np.argsort(error, kind="stable")
    chosen: list[tuple[str, Iterable[int]]] = [
        ("good, alike", [i for i in closest if gold[i] >= ALIKE][:each]),
        ("good, unlike", [i for i in closest if gold[i] <= UNLIKE][:each]),
        ("bad, too high", by_error[::-1][:each]),
        ("bad, too low", by_error[:each]),
    ]
    return [_example(verdict, result.items[i]) for verdict, rows in chosen for i in rows]


def _example(verdict: str, item: dict) -> Example:
    """Make an example of one item of an STS result."""
    return Example(verdict, item["score"], item["gold"], item["sentence1"], item["sentence2"])

"""Where a module is wrong: by kind of text, the worst pairs, the responses that it prefers.

An STS pair's error is the residual of the least-squares line from scores to gold scores: above 0,
the module scores the pair too high. Intervals are over the pairs of a kind.
"""

import re
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from common import statistics
from common.statistics import Sample
from evaluation.data import ranking_files
from evaluation.data.ranking_files import RankingData
from evaluation.metrics import correlation, ranking, similarity
from evaluation.results.result import Group, Result
from evaluation.tasks import response_ranking

WORST = 30
_NEGATION = re.compile(
    r"\b(?:no|not|none|never|nobody|nothing|neither|nor|without|cannot)\b|n['’]t\b"
)
_NUMBER = re.compile(
    r"\d+|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|dozen|hundred|thousand|million)\b"
)
_LINK = re.compile(r"https?:|www\.|\[[^]]*\]\(")

Kinds = Mapping[str, Callable[[dict], bool]]


def _negated(text: str) -> bool:
    return _NEGATION.search(text.lower()) is not None


def _numbers(text: str) -> frozenset[str]:
    return frozenset(_NUMBER.findall(text.lower()))


def _overlap(left: str, right: str) -> float:
    return similarity.word_overlap(similarity.words(left), similarity.words(right))


def _shared(item: dict) -> int:
    return len(similarity.words(item["input"]) & similarity.words(item["response"]))


STS_KINDS: Kinds = {
    "news": lambda item: item["genre"] == "main-news",
    "captions": lambda item: item["genre"] == "main-captions",
    "one sentence negated": lambda item: _negated(item["sentence1"]) != _negated(item["sentence2"]),
    "other numbers": lambda item: _numbers(item["sentence1"]) != _numbers(item["sentence2"]),
    "half of the words shared, gold at most 2": lambda item: (
        _overlap(item["sentence1"], item["sentence2"]) >= 0.5 and item["gold"] <= 2
    ),
    "a quarter of the words shared, gold at least 4": lambda item: (
        _overlap(item["sentence1"], item["sentence2"]) <= 0.25 and item["gold"] >= 4
    ),
}
"""By name, whether an item of an STS result is of this kind."""

RANKING_KINDS: Kinds = {
    "no word shared with the input": lambda item: _shared(item) == 0,
    "1 or 2 words shared": lambda item: 1 <= _shared(item) <= 2,
    "3 words or more shared": lambda item: _shared(item) >= 3,
    "a response of 5 words or fewer": lambda item: len(item["response"].split()) <= 5,
    "a response of 30 words or more": lambda item: len(item["response"].split()) >= 30,
    "a question as input": lambda item: "?" in item["input"],
    "the response is negated": lambda item: _negated(item["response"]),
    "the response has a number": lambda item: bool(_numbers(item["response"])),
    "the response has a link": lambda item: bool(_LINK.search(item["response"])),
    "either says 'bot'": lambda item: (
        re.search(r"\bbots?\b", f"{item['input']} {item['response']}".lower()) is not None
    ),
}
"""By name, whether a pair of input and response, both texts, is of this kind."""


def of_sts(result: Result, *, seed: int = 0) -> Result:
    """Return errors by kind, and the worst pairs as items, of an STS result with its sentences."""
    gold = np.array([item["gold"] for item in result.items])
    score = np.array([item["score"] for item in result.items])
    error = correlation.line_errors(score, gold)

    def figures(rows: np.ndarray) -> Group:
        x, y, errors = score[rows], gold[rows], error[rows]

        def of(units: np.ndarray) -> dict[str, np.ndarray]:
            return {
                "pearson": correlation.pearson(x[units], y[units]),
                "mean_error": errors[units].mean(axis=-1),
                "mean_absolute_error": np.abs(errors[units]).mean(axis=-1),
            }

        return _figures(Sample(len(rows), of), seed=seed)

    groups: dict[str, Group] = {}
    for kind, belongs in STS_KINDS.items():
        rows = np.flatnonzero([belongs(item) for item in result.items])
        if len(rows):
            groups[kind] = figures(rows)
    whole = figures(np.arange(len(gold)))
    worst = np.argsort(-np.abs(error), kind="stable")[:WORST]
    keys = ("gold", "genre", "sentence1", "sentence2")
    return Result(
        task="mistakes",
        name=f"mistakes-{result.name}",
        system=result.system,
        metrics=whole["metrics"],
        intervals=whole["intervals"],
        n=result.n,
        groups=groups,
        items=[
            {"error": float(error[row])} | {key: result.items[row][key] for key in keys}
            for row in worst
        ],
    )


def of_ranking(encoder, data: RankingData, *, candidates: int = 100, seed: int = 0) -> Result:
    """Return P@N by kind, and as items the pairs whose true response has the lowest rank.

    The blocks are those of `response_ranking.evaluate` with the same seed.
    """
    pairs = ranking_files.shuffled(data.pairs, seed=seed)
    layout = ranking_files.blocks(len(pairs), candidates)
    ranked_pairs = []
    for rows, columns, ranks, scores in response_ranking.ranked(encoder, pairs, layout=layout):
        for row, rank, of_row in zip(rows, ranks, scores, strict=True):
            true = pairs[row].response
            others = [pairs[column].response for column in columns]
            negative = [text != true for text in others]
            best = int(np.where(negative, of_row, -np.inf).argmax())
            ranked_pairs.append(
                {
                    "rank": int(rank),
                    "input": pairs[row].input,
                    "response": true,
                    "preferred": others[best] if rank > 1 else true,
                }
            )
    groups: dict[str, Group] = {}
    for kind, belongs in RANKING_KINDS.items():
        some = [item["rank"] for item in ranked_pairs if belongs(item)]
        if some:
            groups[kind] = _precisions(some, seed=seed)
    whole = _precisions([item["rank"] for item in ranked_pairs], seed=seed)
    worst = sorted(ranked_pairs, key=lambda item: -item["rank"])[:WORST]
    return Result(
        task="mistakes",
        name=f"mistakes-{data.name}",
        system="module",
        metrics=whole["metrics"],
        intervals=whole["intervals"],
        n=len(ranked_pairs),
        groups=groups,
        settings={"candidates": candidates, "seed": seed},
        items=worst,
    )


def _precisions(ranks: Sequence[int], *, seed: int) -> Group:
    """Return P@1 and P@10 of pairs; resampled by pair, since a kind has a few of each block."""
    of_pairs = np.array(ranks)

    def of(units: np.ndarray) -> dict[str, np.ndarray]:
        return {f"p_at_{n}": ranking.precision_at(of_pairs[units], n) for n in (1, 10)}

    return _figures(Sample(len(ranks), of), seed=seed)


def _figures(sample: Sample, *, seed: int) -> Group:
    """Return the metrics, None where one is undefined, and their intervals."""
    metrics = {name: None if np.isnan(value) else value for name, value in sample.once().items()}
    intervals = statistics.intervals(sample, seed=seed)
    return {"n": sample.units, "metrics": metrics, "intervals": intervals}

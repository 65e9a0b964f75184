"""Where a module is wrong: by kind of text, the worst pairs, the responses that it prefers.

An STS pair's error is the residual of the least-squares line from scores to gold scores: above 0,
the module scores the pair too high.
"""

import re
from collections.abc import Callable, Mapping
from functools import partial
from textwrap import indent, shorten
from typing import Any

import numpy as np
from tabulate import tabulate

import evaluation
from common import statistics
from common import sts as sts_files
from common.files import write_text
from common.statistics import Sample
from common.text_files import Source, as_markdown
from evaluation.data import ranking_files
from evaluation.data.ranking_files import RankingData
from evaluation.metrics import similarity
from evaluation.options import MistakesOptions
from evaluation.results import store
from evaluation.results.result import Group, Result, table
from evaluation.results.store import Evaluation
from evaluation.tasks import response_ranking, sts

WORST, AT = 30, (1, 10)
SHOWN_CHARACTERS = 200
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


def _numbers(text: str) -> set[str]:
    return set(_NUMBER.findall(text.lower()))


def _shared(item: dict) -> int:
    return len(similarity.words(item["input"]) & similarity.words(item["response"]))


STS_KINDS: Kinds = {
    "news": lambda item: item["genre"] == "main-news",
    "captions": lambda item: item["genre"] == "main-captions",
    "one sentence negated": lambda item: _negated(item["sentence1"]) != _negated(item["sentence2"]),
    "other numbers": lambda item: _numbers(item["sentence1"]) != _numbers(item["sentence2"]),
    "half of the words shared, gold at most 2": lambda item: (
        item["baselines"]["word_overlap"] >= 0.5 and item["gold"] <= 2
    ),
    "a quarter of the words shared, gold at least 4": lambda item: (
        item["baselines"]["word_overlap"] <= 0.25 and item["gold"] >= 4
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


def run(options: MistakesOptions) -> None:
    """Compute a module's errors; write and print them, with the worst items' texts."""
    data: dict[Source, Any] = {}
    for source in sts_files.sources(options.sts) if options.sts else ():
        data[source] = sts_files.read(source)
    if options.response_ranking:
        source = ranking_files.find(options.response_ranking)
        data[source] = ranking_files.read(source, own_replies=options.own_replies)
        ranking_files.blocks(len(data[source].pairs), options.candidates)  # before the slow load
    encoder, seed = evaluation.load_encoder(options.module), options.seed

    def compute(source: Source) -> Result:
        if source.name == ranking_files.NAME:
            of = {"seed": seed, "candidates": options.candidates}
            return of_ranking(encoder, data[source], **of)
        return of_sts(sts.evaluate(encoder, data[source]), seed=seed)

    module = encoder.provenance()
    evaluations = [
        Evaluation(source=one, compute=partial(compute, one), module=module) for one in data
    ]
    results = store.results(evaluations, output=options.output, again=True)
    path = options.output / "mistakes.md"
    write_text(path, "\n".join(map(page, results)))
    print(f"-> {path}")


def page(result: Result) -> str:
    """Return errors by kind of text, and the texts of the worst items, as Markdown's code."""
    parts = [table(result)]
    for item in result.items:
        rows = [
            (key, shorten(value, SHOWN_CHARACTERS) if isinstance(value, str) else round(value, 2))
            for key, value in item.items()
        ]
        parts.append(tabulate(rows, tablefmt="plain", disable_numparse=True))
    shown = "\n\n".join(indent(part, "    ") for part in parts)
    return f"# {as_markdown(result.name)}\n\n{shown}\n"


def of_sts(result: Result, *, seed: int = 0) -> Result:
    """Return errors by kind, and the worst pairs as items, of an STS result with its sentences."""
    gold = np.array([item["gold"] for item in result.items])
    score = np.array([item["score"] for item in result.items])
    around = score - score.mean()
    error = (around @ gold / (around @ around)) * around + gold.mean() - gold

    def values(pairs: np.ndarray) -> dict[str, np.ndarray]:
        return {
            "pearson": statistics.pearson(score[pairs], gold[pairs]),
            "mean_error": error[pairs].mean(axis=-1),
            "mean_absolute_error": np.abs(error[pairs]).mean(axis=-1),
        }

    keys = ("gold", "genre", "sentence1", "sentence2")
    worst = [
        {"error": float(error[row])} | {key: result.items[row][key] for key in keys}
        for row in np.argsort(-np.abs(error), kind="stable")[:WORST]
    ]
    by_kind = _by_kind(result.items, STS_KINDS, values, seed=seed)
    return Result(name=f"mistakes-{result.name}", system=result.system, items=worst, **by_kind)


def of_ranking(encoder, data: RankingData, *, candidates: int = 100, seed: int = 0) -> Result:
    """Return P@N by kind, and as items the pairs whose true response has the lowest rank.

    Pairs are resampled one by one, not by blocks, since a kind has a few of each block.
    """
    pairs = ranking_files.shuffled(data.pairs, seed=seed)
    items = []
    ranked = response_ranking.ranked(encoder, pairs, candidates=candidates)
    for rows, columns, *found in ranked:
        for row, rank, scores, negative in zip(rows, *found, strict=True):
            best = row if rank == 1 else columns[np.where(negative, scores, -np.inf).argmax()]
            texts = {"input": pairs[row].input, "response": pairs[row].response}
            items.append({"rank": int(rank), **texts, "preferred": pairs[best].response})
    all_ranks = np.array([item["rank"] for item in items])

    def values(units: np.ndarray) -> dict[str, np.ndarray]:
        return {f"p_at_{n}": (all_ranks[units] <= n).mean(axis=-1) for n in AT}

    return Result(
        name=f"mistakes-{data.name}",
        settings={"candidates": candidates, "seed": seed},
        items=sorted(items, key=lambda item: -item["rank"])[:WORST],
        **_by_kind(items, RANKING_KINDS, values, seed=seed),
    )


def _by_kind(items: list[dict], kinds: Kinds, values: Callable, *, seed: int) -> dict[str, Any]:
    """Return the figures of all items and of those of each kind; `values` as in a `Sample`."""

    def figures(rows: np.ndarray) -> Group:
        sample = Sample(len(rows), lambda units: values(rows[units]))
        ends = statistics.intervals(sample, seed=seed)
        return {"n": len(rows), "metrics": sample.once(), "intervals": ends}

    groups = {
        kind: figures(rows)
        for kind, belongs in kinds.items()
        if len(rows := np.flatnonzero([belongs(item) for item in items]))
    }
    return {"task": "mistakes", **figures(np.arange(len(items))), "groups": groups}

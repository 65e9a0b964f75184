"""Overlaps of an evaluation set with training data, and the scores without them.

The official metrics stay the headline: those without overlapping items are groups beside them.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from common import statistics, sts
from common.errors import InputError
from common.text_files import Source
from evaluation.data import cqa_files, ranking_files, snli_files
from evaluation.data.overlap import Overlap, TextPair
from evaluation.data.ranking_files import RankingData
from evaluation.results import measure
from evaluation.results.result import TASKS, Group, Result

GROUPS = {"pairs": "without pairs in training", "texts": "without texts in training"}
SHOWN = 100  # overlapping items that a result lists


@dataclass(frozen=True)
class EvaluationSet:
    """The texts of each item of an evaluation set, in the order of its result's items."""

    task: str
    source: Source
    items: list[TextPair]


def find(task: str, path: Path, *, seed: int) -> list[EvaluationSet]:
    """Return every evaluation set of a task in a file or folder, as that task finds them.

    `seed` is that of response ranking, which orders its items by it. Files without text, which
    CQA has, are left out.
    """
    match task:
        case "sts":
            sources = sts.sources(path)
            return [EvaluationSet(task, s, sts.read(s).texts()) for s in sources]
        case "snli":
            splits = snli_files.find(path)
            sources = [s for split, s in splits.items() if len(splits) == 1 or split != "train"]
            return [EvaluationSet(task, s, snli_files.read(s).texts()) for s in sources]
        case "cqa":
            data = [(source, cqa_files.read(source)) for source in cqa_files.find(path)]
            return [EvaluationSet(task, s, of.texts()) for s, of in data if of.has_text]
        case "response_ranking":
            (source,) = ranking_files.find(path)
            pairs = ranking_files.shuffled(ranking_files.read(source).pairs, seed=seed)
            return [EvaluationSet(task, source, RankingData(source.name, pairs).texts())]
    raise ValueError(f"task: {task!r}; accepted: {', '.join(TASKS)}")


def result_of(
    found: Overlap, *, of: EvaluationSet, records: int, scored: Result | None, seed: int
) -> Result:
    """Return the overlaps as a result; with the task's own result, its metrics without them."""
    overlapping = {"pairs": found.pairs, "texts": found.texts}
    counts = {f"{level}_in_training": len(rows) for level, rows in overlapping.items()}
    about: dict[str, Any]
    if scored is None:
        shares = {name: count / len(of.items) for name, count in counts.items()}
        about = {"system": "none", "metrics": shares}
    else:
        about = {
            **{"system": "module", "metrics": scored.metrics, "intervals": scored.intervals},
            "groups": {
                GROUPS[level]: _without(scored, rows, seed=seed)
                for level, rows in overlapping.items()
            },
        }
    return Result(
        task="contamination",
        name=f"contamination-{of.source.name}",
        n=len(of.items),
        counts={"training_records": records} | counts,
        settings={"seed": seed, "resamples": statistics.RESAMPLES},
        notes=[
            "Texts are the same if their letters and digits are, in any case. A pair is in "
            "training if one record has both its texts, in either order; a text, if any record "
            "has it."
        ],
        items=[
            {"row": row, "texts": list(of.items[row]), "pair": row in found.pairs}
            for row in sorted({*found.pairs, *found.texts})[:SHOWN]
        ],
        **about,
    )


def check_fits(scored: Result, of: EvaluationSet, *, seed: int) -> None:
    """Raise InputError unless the items of a result are those of this very evaluation set."""
    if of.task == "response_ranking" and scored.settings.get("seed") != seed:
        raise InputError(
            f"--seed is {seed}; {scored.name} in --results is in the order of the seed "
            f"{scored.settings.get('seed')}"
        )
    if scored.data.get("sha256") != of.source.provenance()["sha256"]:
        raise InputError(f"{scored.name}: computed on other data than {of.source.files[0]}")
    if len(scored.items) != len(of.items):
        raise InputError(
            f"{scored.name}: {len(scored.items)} items where the data have {len(of.items)}"
        )


def _without(scored: Result, rows: list[int], *, seed: int) -> Group:
    """Return n, metrics and intervals of a result without some of its items."""
    left = np.setdiff1d(np.arange(len(scored.items)), rows)
    if not len(left):
        return {"n": 0, "metrics": dict.fromkeys(scored.metrics), "intervals": {}}
    sample = measure.sample_of(scored, rows=left)
    return {
        "n": len(left),
        "metrics": sample.once(),
        "intervals": statistics.intervals(sample, seed=seed),
    }

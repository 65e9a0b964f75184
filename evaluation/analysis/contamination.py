"""What of an evaluation set stands in training data, and the scores without it.

The official figure stays the headline: the scores without overlapping items are groups beside it.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from evaluation.analysis.overlap import Overlap, TextPair
from evaluation.data import snli_files, sts_files
from evaluation.data.files import Source
from evaluation.errors import InputError
from evaluation.metrics import bootstrap, per_item
from evaluation.results.result import Result
from evaluation.tasks import cqa, response_ranking

GROUPS = {"pairs": "without pairs in training", "texts": "without texts in training"}
SHOWN = 100  # overlapping items that a result lists
TASKS = ("response_ranking", "snli", "sts", "cqa")


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
    if task == "sts":
        return [
            EvaluationSet(task, s, [(p.sentence1, p.sentence2) for p in sts_files.read(s).pairs])
            for s in sts_files.find(path)
        ]
    if task == "snli":
        sources = snli_files.find(path)
        return [
            EvaluationSet(task, s, [(p.premise, p.hypothesis) for p in snli_files.read(s).pairs])
            for split, s in sources.items()
            if len(sources) == 1 or split != "train"
        ]
    if task == "cqa":
        data = [(source, cqa.read(source)) for source in cqa.find(path)]
        return [
            EvaluationSet(task, s, [(q.text, c.text) for q in d.queries for c in q.candidates])
            for s, d in data
            if d.has_text
        ]
    if task == "response_ranking":
        sources_of_pairs = [(s, response_ranking.read(s)) for s in response_ranking.find(path)]
        return [
            EvaluationSet(
                task,
                s,
                [(p.input, p.response) for p in response_ranking.shuffled(d.pairs, seed=seed)],
            )
            for s, d in sources_of_pairs
        ]
    raise InputError(f"{task!r} is no task with items; {', '.join(TASKS)} are accepted")


def result_of(
    found: Overlap, *, of: EvaluationSet, records: int, scored: Result | None, seed: int
) -> Result:
    """Return the overlaps as a result; with the task's own result, its figures without them."""
    count = len(of.items)
    overlapping = {"pairs": found.pairs, "texts": found.texts}
    groups = {}
    if scored is not None:
        check_fits(scored, of, seed=seed)
        for level, rows in overlapping.items():
            groups[GROUPS[level]] = _without(scored, rows, seed=seed)
    fractions = {f"{level}_in_training": len(rows) / count for level, rows in overlapping.items()}
    in_pairs = set(found.pairs)
    return Result(
        task="contamination",
        name=f"contamination-{of.source.name}",
        system="module" if scored is not None else "none",
        metrics=scored.metrics if scored is not None else fractions,
        intervals=scored.intervals if scored is not None else {},
        n=count,
        groups=groups,
        counts={"training_records": records}
        | {f"{level}_in_training": len(rows) for level, rows in overlapping.items()},
        settings={"seed": seed, "resamples": bootstrap.RESAMPLES},
        notes=[
            "Texts are the same if their letters and digits are, in any case. A pair is in "
            "training if one record has both its texts, in either order; a text, if any record "
            "has it."
        ],
        items=[
            {"row": row, "texts": list(of.items[row]), "pair": row in in_pairs}
            for row in sorted(in_pairs | set(found.texts))[:SHOWN]
        ],
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


def _without(scored: Result, rows: list[int], *, seed: int) -> dict:
    """Return n, metrics and intervals of a result without some of its items."""
    left = np.setdiff1d(np.arange(len(scored.items)), rows)
    if not len(left):
        return {"n": 0, "metrics": dict.fromkeys(scored.metrics), "intervals": {}}
    weigh, units = per_item.figures(scored, rows=left)
    return {
        "n": len(left),
        "metrics": bootstrap.once(weigh, units),
        "intervals": bootstrap.intervals(weigh, units, seed=seed),
    }

"""Folds -> a result file a row, as the evaluation's report reads them, and table 2 with ours.

    OUTPUT/results/sts_regression-sts2016-random-lstm2_lstm2.json
    OUTPUT/table_2.md

The files have the fields of every result: `task` is `sts_regression`, `name` as above,
`metrics` and `intervals` (means over folds and their 95%), `n` pairs, `groups` by genre,
`baselines`, `counts`, `settings`, `items` (a fold each), `data`, `module`, `versions`, `command`,
`seconds`. What table 2 needs of them: `settings.row`, `settings.label`, `settings.folds_by`,
`metrics.pearson`, `metrics.pearson_in_sample`, their `intervals`, `baselines.paper`.
"""

import dataclasses
import json
import math
import platform
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path

import numpy as np

from model.errors import InputError
from model.sts_regression.choices import Choices
from model.sts_regression.data.prepared import Prepared
from model.sts_regression.experiments import COSINE, COSINES, Experiment
from model.sts_regression.results import measures
from model.sts_regression.training import fold
from model.sts_regression.training.fold import Job

TASK = "sts_regression"
LABELS = {"cosine": "Cosine of the module", "tuned_cosine": "Cosine of the module, tuned"}
_PACKAGES = ("tensorflow", "tf-keras", "numpy", "scipy")


def of_rows(
    done: dict[Job, dict],
    *,
    known: dict[str, Experiment],
    prepared: Prepared,
    choices: Choices,
    corpus: str,
    command: str,
) -> list[dict]:
    """A result a row and way of making folds, in the order of the rows."""
    by_row: dict[tuple[str, str], list[dict]] = {}
    for job, found in done.items():
        by_row.setdefault((job.way, job.row), []).append(found)
    results = {
        key: _result(*key, found, known.get(key[1]), prepared, choices, corpus)
        for key, found in by_row.items()
    }
    for (way, row), result in results.items():
        for name in COSINES:
            if name != row and (way, name) in results:
                result["baselines"][name] = results[way, name]["metrics"]
        result |= {"versions": _versions(), "command": command}
    return list(results.values())


def _result(
    way: str,
    row: str,
    found: list[dict],
    experiment: Experiment | None,
    prepared: Prepared,
    choices: Choices,
    corpus: str,
) -> dict:
    finished = [one for one in found if "diverged_in_epoch" not in one]
    metrics, intervals = _metrics(finished, whole=len(finished) == len(found))
    if len(found) == 1 and finished:
        intervals |= _resampled(finished[0], prepared, choices)
    elif row == COSINE:
        # Nothing is fitted: each fold scores the tests alike.
        resampled = _resampled(finished[0], prepared, choices)
        intervals |= {name: value for name, value in resampled.items() if name != "pearson"}
    paper = experiment.paper if experiment else None
    return {
        "task": TASK,
        "name": f"{TASK}-{corpus}-{way}-{row}",
        "system": "module" if row in COSINES else row,
        "metrics": metrics,
        "intervals": intervals,
        "n": len(prepared.corpus.data.scores),
        "groups": _genres(finished, prepared) if len(finished) == len(found) else {},
        "baselines": {"paper": {"pearson": paper[0], "pearson_in_sample": paper[1]}}
        if paper and corpus == "sts2016"
        else {},
        "counts": _counts(found, finished, prepared),
        "settings": _settings(way, row, experiment, choices, len(found)),
        "items": [{k: v for k, v in one.items() if k != "about"} for one in found],
        "data": prepared.corpus.provenance
        | {
            "tests": {
                name: part.provenance
                | {
                    "pairs": len(part.data.scores),
                    "pairs_with_a_sentence_that_trains": prepared.shared_tests[name],
                }
                for name, part in prepared.tests.items()
            }
        }
        | {"word_vectors": Path(prepared.vectors.source).name, "word_dim": prepared.vectors.dim},
        "module": prepared.module if row in COSINES else None,
        "seconds": round(sum(one["seconds"] for one in found), 1),
    }


def _settings(
    way: str, row: str, experiment: Experiment | None, choices: Choices, folds: int
) -> dict:
    settings = dataclasses.asdict(choices) | {"folds": folds, "folds_by": way, "row": row}
    settings["label"] = experiment.label if experiment else LABELS[row]
    if experiment:
        settings["epochs"] = choices.epochs(experiment.epochs)
    return settings


def _metrics(finished: list[dict], *, whole: bool) -> tuple[dict, dict]:
    """Means over folds and their intervals; None where a fold diverged."""
    columns: dict[str, list[float | None]] = {}
    for one in finished:
        named = {"": one["out_of_sample"], "_in_sample": one["in_sample"]}
        named |= {f"_{name}": scores for name, scores in one["tests"].items()}
        for name, scores in named.items():
            for key in ("pearson", "mse"):
                columns.setdefault(f"{key}{name}", []).append(scores[key])
    if not columns:
        return {"pearson": None, "pearson_in_sample": None}, {}
    metrics = {name: measures.mean(values) if whole else None for name, values in columns.items()}
    intervals = {
        name: measures.interval(
            values, bounds=(-1, 1) if name.startswith("pearson") else (0, math.inf)
        )
        for name, values in columns.items()
    }
    return metrics, {name: value for name, value in intervals.items() if whole and value}


def _resampled(one: dict, prepared: Prepared, choices: Choices) -> dict:
    """Intervals over pairs, where there is a single split."""
    gold = prepared.corpus.data.scores[one["held_out"]]
    found = {"pearson": measures.bootstrap(np.array(one["predicted"]), gold, seed=choices.seed)}
    for name, part in prepared.tests.items():
        predicted = np.array(one["tests"][name]["predicted"])
        found[f"pearson_{name}"] = measures.bootstrap(
            predicted, part.data.scores, seed=choices.seed
        )
    return {name: value for name, value in found.items() if value}


def _genres(finished: list[dict], prepared: Prepared) -> dict:
    """Out of sample, over the pairs of a genre in all folds together."""
    held_out = np.concatenate([one["held_out"] for one in finished]).astype(int)
    predicted = np.concatenate([one["predicted"] for one in finished])
    gold = prepared.corpus.data.scores[held_out]
    genres = np.array(prepared.corpus.genres)[held_out]
    return {
        genre: {
            "n": int((genres == genre).sum()),
            "metrics": measures.scores(predicted[genres == genre], gold[genres == genre]),
        }
        for genre in sorted(set(genres.tolist()))
    }


def _counts(found: list[dict], finished: list[dict], prepared: Prepared) -> dict[str, int]:
    key = "pairs_held_out_with_a_sentence_that_trains"
    return prepared.vectors.counts() | {
        "folds_that_diverged": len(found) - len(finished),
        key: sum(one[key] for one in found),
        "folds_without_a_correlation": sum(
            one["out_of_sample"]["pearson"] is None for one in finished
        ),
    }


def write(results: Iterable[dict], output: Path) -> None:
    """Writes every result, each aside and renamed."""
    for result in results:
        fold.write(output / "results" / f"{result['name']}.json", result)


def read(output: Path) -> list[dict]:
    """All results of a folder, those of earlier runs too.

    Raises:
      InputError: if a file is no result; names the key that is missing.
    """
    return [_checked(path) for path in sorted((output / "results").glob(f"{TASK}-*.json"))]


def _checked(path: Path) -> dict:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise InputError(f"{path}: no result ({error}); remove it") from error
    for key, kind in _READ.items():
        if not isinstance(found, dict) or not isinstance(found.get(key), kind):
            raise InputError(f"{path}: no result ({key} is missing or of another type); remove it")
    if missing := [key for key in ("folds", "folds_by", "label") if key not in found["settings"]]:
        raise InputError(f"{path}: no result (settings.{missing[0]} is missing); remove it")
    return found


_READ: dict[str, type | tuple[type, ...]] = {
    **dict.fromkeys(("metrics", "intervals", "baselines", "counts", "settings", "data"), dict),
    "items": list,
    "n": int,
    "seconds": (int, float),
}
"""What the table reads of a result."""


def _versions() -> dict[str, str]:
    versions = {name.replace("-", "_"): metadata.version(name) for name in _PACKAGES}
    return {"python": platform.python_version()} | versions

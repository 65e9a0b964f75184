"""Folds -> a result file for each row, which the evaluation's report reads.

    OUTPUT/results/sts_regression-sts2016-random-lstm2_lstm2.json
    OUTPUT/results/sts_regression-sts2016-random_carried-lstm2_lstm2.json    carried weights

The files have the fields of every result: `task` is `sts_regression`, `name` as above, `metrics`
and `intervals` (means over folds and their 95%), `n` pairs, `groups` by genre, `baselines`,
`counts`, `settings`, `items` (one for each fold), `data`, `module`, `versions`, `command`,
`seconds`.
"""

import dataclasses
import json
import math
import platform
from importlib import metadata
from pathlib import Path

import numpy as np

from model.errors import InputError
from model.sts_regression.choices import CARRIED, FRESH, Choices
from model.sts_regression.data.prepared import Prepared
from model.sts_regression.experiments import COSINES, Experiment
from model.sts_regression.results import measures
from model.sts_regression.training.fold import Job

TASK = "sts_regression"
LABELS = {"cosine": "Cosine of the module", "tuned_cosine": "Cosine of the module, tuned"}
_PACKAGES = ("tensorflow", "tf-keras", "numpy", "scipy")
_LEAKS = "pairs_held_out_with_a_sentence_that_trains"
_READ: dict[str, type | tuple[type, ...]] = {
    **dict.fromkeys(("metrics", "intervals", "baselines", "counts", "settings", "data"), dict),
    "items": list,
    "n": int,
    "seconds": (int, float),
}
"""What the table reads of a result."""


def of_rows(
    done: dict[Job, dict],
    *,
    known: dict[str, Experiment],
    prepared: Prepared,
    choices: Choices,
    corpus: str,
    command: str,
) -> list[dict]:
    """A result for each row and way of making folds, in the order of the rows.

    Args:
      done: the result of each fold.
      known: the experiments by name.
      prepared: the data.
      choices: everything else.
      corpus: name of the corpus.
      command: the command line.
    """
    by_row: dict[tuple[str, str, str], list[dict]] = {}
    for job, found in done.items():
        by_row.setdefault((job.way, job.weights, job.row), []).append(found)
    versions = {name.replace("-", "_"): metadata.version(name) for name in _PACKAGES}
    results = {}
    for (way, weights, row), folds in by_row.items():
        of_row = dataclasses.replace(choices, weights_between_folds=weights)
        found = _result(way, row, folds, known.get(row), prepared, of_row, corpus)
        results[way, weights, row] = found | {
            "versions": {"python": platform.python_version()} | versions,
            "command": command,
        }
    for (way, _, row), result in results.items():
        for name in COSINES:
            if name != row and (way, FRESH, name) in results:
                result["baselines"][name] = results[way, FRESH, name]["metrics"]
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
    is_whole = len(finished) == len(found)
    metrics, intervals = _metrics(finished, is_whole=is_whole)
    carried = choices.weights_between_folds == CARRIED
    if carried:
        intervals = {}  # its folds depend on each other
    if is_whole:
        intervals |= _resampled(finished, prepared, choices)
    baselines = {}
    if experiment and experiment.paper and corpus == "sts2016":
        out_of_sample, in_sample = experiment.paper
        baselines["paper"] = {"pearson": out_of_sample, "pearson_in_sample": in_sample}
    return {
        "task": TASK,
        "name": f"{TASK}-{corpus}-{way}{f'_{CARRIED}' if carried else ''}-{row}",
        "system": "module" if row in COSINES else row,
        "metrics": metrics,
        "intervals": intervals,
        "n": len(prepared.corpus.data.scores),
        "groups": _genres(finished, prepared) if is_whole else {},
        "baselines": baselines,
        "counts": _counts(found, finished, prepared),
        "settings": _settings(way, row, experiment, choices, len(found)),
        "items": [{k: v for k, v in one.items() if k != "about"} for one in found],
        "data": _data(prepared),
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


def _data(prepared: Prepared) -> dict:
    tests = {
        name: part.provenance
        | {
            "pairs": len(part.data.scores),
            "pairs_with_a_sentence_that_trains": prepared.shared_tests[name],
        }
        for name, part in prepared.tests.items()
    }
    vectors = prepared.vectors
    return prepared.corpus.provenance | {
        "tests": tests,
        "word_vectors": Path(vectors.source).name,
        "word_dim": vectors.dim,
    }


def _metrics(finished: list[dict], *, is_whole: bool) -> tuple[dict, dict]:
    """Means over folds, and intervals of those out of sample; None if a fold diverged."""
    columns: dict[str, list[float | None]] = {}
    for one in finished:
        named = {"": one["out_of_sample"], "_in_sample": one["in_sample"]}
        named |= {f"_{name}": scores for name, scores in one["tests"].items()}
        for name, scores in named.items():
            for key in ("pearson", "mse"):
                columns.setdefault(f"{key}{name}", []).append(scores[key])
    if not columns:
        return {"pearson": None, "pearson_in_sample": None}, {}
    if not is_whole:
        return dict.fromkeys(columns), {}
    # Over folds, where they score different pairs. In sample most of their pairs are the same.
    own = {name: columns[name] for name in ("pearson", "mse")}
    intervals = {
        name: measures.interval(
            values, bounds=(-1, 1) if name.startswith("pearson") else (0, math.inf)
        )
        for name, values in own.items()
    }
    metrics = {name: measures.mean(values) for name, values in columns.items()}
    return metrics, {name: value for name, value in intervals.items() if value}


def _resampled(folds: list[dict], prepared: Prepared, choices: Choices) -> dict:
    """Intervals over pairs: of the tests, which all folds score, and of a single split."""
    scored = {
        f"pearson_{name}": ([one["tests"][name]["predicted"] for one in folds], part.data.scores)
        for name, part in prepared.tests.items()
    }
    if len(folds) == 1:
        gold = prepared.corpus.data.scores[folds[0]["held_out"]]
        scored["pearson"] = ([folds[0]["predicted"]], gold)
    found = {
        name: measures.bootstrap(np.array(predicted), gold, seed=choices.seed)
        for name, (predicted, gold) in scored.items()
    }
    return {name: value for name, value in found.items() if value}


def _genres(finished: list[dict], prepared: Prepared) -> dict:
    """Scores out of sample by genre, over the pairs of all folds."""
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
    undefined = [one for one in finished if one["out_of_sample"]["pearson"] is None]
    return prepared.vectors.counts() | {
        "folds_that_diverged": len(found) - len(finished),
        _LEAKS: sum(one[_LEAKS] for one in found),
        "folds_without_a_correlation": len(undefined),
    }


def read(output: Path) -> list[dict]:
    """All results in an output folder, also those of earlier runs.

    Raises:
      InputError: if a file is not a result; names the key that is missing.
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
    found["settings"].setdefault("weights_between_folds", FRESH)  # older results lack it
    return found

"""Folds -> a result file for each row, which the evaluation's report reads.

    OUTPUT/results/sts_regression-sts2016-random-lstm2_lstm2.json
    OUTPUT/results/sts_regression-sts2016-random_carried-lstm2_lstm2.json    carried weights

The files have the fields of every result: `task` is `sts_regression`, `name` as above, `metrics`
and `intervals` (means over folds and their 95%), `n` pairs, `counts`, `settings`, `items` (one for
each fold), `data`, `module`, `versions`, `command`, `seconds`.
"""

import dataclasses
import json
import math
import platform
from importlib import metadata
from pathlib import Path

import numpy as np

from model.sts_regression.data.prepared import Prepared
from model.sts_regression.experiments import COSINES, TABLE_2
from model.sts_regression.results import measures
from model.sts_regression.run import Fold
from model.sts_regression.settings import CARRIED, FRESH, Settings

TASK = "sts_regression"
_PACKAGES = ("tensorflow", "tf-keras", "numpy", "scipy")
_LEAKS = "pairs_held_out_with_a_sentence_that_trains"


def of_rows(
    done: dict[Fold, dict], prepared: Prepared, settings: Settings, *, corpus: str, command: str
) -> list[dict]:
    """A result for each row and way of making and starting folds.

    Args:
      done: the result of each fold.
      prepared: the data.
      settings: how regressors were trained.
      corpus: name of the corpus.
      command: the command line.
    """
    by_row: dict[Fold, list[dict]] = {}
    for fold, found in done.items():
        by_row.setdefault(fold._replace(number=0), []).append(found)
    versions = {name.replace("-", "_"): metadata.version(name) for name in _PACKAGES}
    same = {
        "versions": {"python": platform.python_version()} | versions,
        "command": command,
        "data": prepared.about,
        "n": len(prepared.corpus.scores),
        "task": TASK,
    }
    return [same | _result(row, found, prepared, settings, corpus) for row, found in by_row.items()]


def _result(
    of: Fold, folds: list[dict], prepared: Prepared, settings: Settings, corpus: str
) -> dict:
    finished = [fold for fold in folds if "diverged_in_epoch" not in fold]
    metrics: dict[str, float | None] = {"pearson": None, "pearson_in_sample": None}
    intervals: dict[str, list[float]] = {}
    if len(finished) == len(folds):
        metrics, intervals = _metrics(finished)
        if of.weights == CARRIED:
            intervals = {}  # its folds depend on each other
        intervals |= _resampled(finished, prepared, settings)
    experiment = TABLE_2.get(of.row)
    way = of.folds_by if of.weights == FRESH else f"{of.folds_by}_{of.weights}"
    undefined = [fold for fold in finished if fold["out_of_sample"]["pearson"] is None]
    about = {
        "folds": len(folds),
        "folds_by": of.folds_by,
        "weights_between_folds": of.weights,
        "row": of.row,
        "label": experiment.label if experiment else COSINES[of.row],
    }
    if experiment:
        about["epochs"] = settings.epochs(experiment.epochs)
    return {
        "name": f"{TASK}-{corpus}-{way}-{of.row}",
        "system": of.row if experiment else "module",
        "metrics": metrics,
        "intervals": intervals,
        "counts": prepared.vectors.counts()
        | {
            "folds_that_diverged": len(folds) - len(finished),
            _LEAKS: sum(fold[_LEAKS] for fold in folds),
            "folds_without_a_correlation": len(undefined),
        },
        "settings": dataclasses.asdict(settings) | about,
        "items": folds,
        "module": None if experiment else prepared.module,
        "seconds": round(sum(fold["seconds"] for fold in folds), 1),
    }


def _metrics(folds: list[dict]) -> tuple[dict, dict]:
    """Means over folds, and intervals of those out of sample.

    Folds score different pairs there. In sample most of their pairs are the same.
    """
    columns: dict[str, list[float | None]] = {}
    for fold in folds:
        named = {"": fold["out_of_sample"], "_in_sample": fold["in_sample"]}
        named |= {f"_{name}": scores for name, scores in fold["tests"].items()}
        for name, scores in named.items():
            for key in ("pearson", "mse"):
                columns.setdefault(f"{key}{name}", []).append(scores[key])
    intervals = {
        "pearson": measures.interval(columns["pearson"], bounds=(-1, 1)),
        "mse": measures.interval(columns["mse"], bounds=(0, math.inf)),
    }
    metrics = {name: measures.mean(values) for name, values in columns.items()}
    return metrics, {name: value for name, value in intervals.items() if value}


def _resampled(folds: list[dict], prepared: Prepared, settings: Settings) -> dict:
    """Intervals over pairs: of the tests, which all folds score, and of a single split."""
    scored = {
        f"pearson_{name}": ([fold["tests"][name]["predicted"] for fold in folds], test.scores)
        for name, test in prepared.tests.items()
    }
    if len(folds) == 1:
        gold = prepared.corpus.scores[folds[0]["held_out"]]
        scored["pearson"] = ([folds[0]["predicted"]], gold)
    found = {
        name: measures.bootstrap(np.array(predicted), gold, seed=settings.seed)
        for name, (predicted, gold) in scored.items()
    }
    return {name: value for name, value in found.items() if value}


def read(output: Path) -> list[dict]:
    """All results in an output folder, also those of earlier runs."""
    paths = sorted((output / "results").glob(f"{TASK}-*.json"))
    return [json.loads(path.read_text(encoding="utf-8")) for path in paths]

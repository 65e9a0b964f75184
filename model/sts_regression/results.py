"""Scores of folds -> the result of a row, which the evaluation's report reads; and table 2.

A result has the fields of every result: `task` is `sts_regression`, `name`, `metrics` and
`intervals` (means over folds and their 95%), `n` pairs, `counts`, `settings`, `items` (one for each
fold), `data`, `module`, `versions`, `command`, `seconds`.
"""

import dataclasses
import math
import platform
from collections.abc import Sequence
from importlib import metadata

import numpy as np
from scipy import stats
from tabulate import tabulate

from common import statistics
from common.statistics import Sample
from model.sts_regression.data import CORPUS, TEST, Prepared
from model.sts_regression.options import CARRIED, FRESH, TABLE_2

TASK = "sts_regression"
DIVERGED = "diverged_in_epoch"
"""In place of scores, in a fold that has none."""
SHARED = "pairs_held_out_with_a_sentence_that_trains"
_PACKAGES = ("tensorflow", "tf-keras", "numpy", "scipy")
_ALIKE = 0.01
"""Scores in [0, 5] within a smaller range count as constant: rounding alone would otherwise give a
network that scores all pairs alike a correlation."""

_METRICS = {
    "pearson": "Pearson r, 95%",
    "pearson_in_sample": "in sample",
    "mse": "MSE",
    "mse_in_sample": "MSE in sample",
    f"pearson_{TEST}": f"{TEST}, 95%",
}
_COUNTS = {
    SHARED: "pairs held out with a sentence that trains",
    "folds_that_diverged": "folds that diverged",
    "folds_without_a_correlation": "folds with one score for all",
}
"""The last two say why a row has no mean."""


def scores(predicted: np.ndarray, gold: np.ndarray) -> dict[str, float | None]:
    """`pearson`, None where one side is constant, and `mse`, the mean squared error, of two [n]."""
    r = float(pearson(predicted, gold))
    mse = float(np.mean((np.asarray(predicted, np.float64) - gold) ** 2))
    return {"pearson": None if math.isnan(r) else r, "mse": mse}


def pearson(predicted: np.ndarray, gold: np.ndarray) -> np.ndarray:
    """Pearson's r of two [..., n] (section 5): float64 [...], NaN where one side is constant."""
    alike = [np.ptp(side, axis=-1) < _ALIKE for side in (predicted, gold)]
    return np.where(np.logical_or(*alike), np.nan, statistics.pearson(predicted, gold))


def mean(values: Sequence[float | None]) -> float | None:
    """The mean over folds; None if a fold has no value."""
    return None if None in values else float(np.mean(values))  # type: ignore[arg-type]


def interval(values: Sequence[float | None], *, bounds: tuple[float, float]) -> list[float]:
    """95% interval of the mean over folds, by Student's t: [low, high]; empty if it has none.

    It is for folds that score different pairs. It is clipped to the bounds of the measure. Folds
    share training pairs, so they vary less than runs on new data would.
    """
    middle = mean(values)
    if middle is None:
        return []
    half = stats.sem(values) * stats.t.ppf((1 + statistics.LEVEL) / 2, len(values) - 1)
    return np.clip([middle - half, middle + half], *bounds).tolist()


def bootstrap(predicted: np.ndarray, gold: np.ndarray, *, seed: int) -> list[float]:
    """95% interval over resampled pairs of the mean over folds of Pearson's r, or empty.

    Of float [folds, pairs], folds that score the same pairs, and [pairs].
    """

    def metrics(pairs: np.ndarray) -> dict[str, np.ndarray]:
        return {"r": np.mean([pearson(fold[pairs], gold[pairs]) for fold in predicted], axis=0)}

    return statistics.intervals(Sample(len(gold), metrics), seed=seed).get("r", [])


def way_of(folds_by: str, weights: str) -> str:
    """How folds are made and begin, in names of files and results."""
    return folds_by if weights == FRESH else f"{folds_by}_{weights}"


def result(
    row: str, folds: list[dict], prepared: Prepared, *, folds_by: str, weights: str, command: str
) -> dict:
    """The result of a row of table 2, for JSON; `folds` are as `run.compute` gives them."""
    settings = prepared.settings
    finished = [fold for fold in folds if DIVERGED not in fold]
    metrics: dict[str, float | None] = {"pearson": None, "pearson_in_sample": None}
    intervals: dict[str, list[float]] = {}
    if len(finished) == len(folds):
        parts = {
            "": [fold["out_of_sample"] for fold in folds],
            "_in_sample": [fold["in_sample"] for fold in folds],
            f"_{TEST}": [fold["tests"][TEST] for fold in folds],
        }
        columns = {
            f"{key}{name}": [scores[key] for scores in part]
            for name, part in parts.items()
            for key in ("pearson", "mse")
        }
        metrics = {name: mean(values) for name, values in columns.items()}
        if weights != CARRIED:  # whose folds depend on each other
            intervals["pearson"] = interval(columns["pearson"], bounds=(-1, 1))
            intervals["mse"] = interval(columns["mse"], bounds=(0, math.inf))
        predicted = np.array([fold["tests"][TEST]["predicted"] for fold in folds])
        test = bootstrap(predicted, prepared.test.scores, seed=settings.seed)
        intervals[f"pearson_{TEST}"] = test
    experiment = TABLE_2[row]
    versions = {name.replace("-", "_"): metadata.version(name) for name in _PACKAGES}
    return {
        "task": TASK,
        "name": f"{TASK}-{CORPUS}-{way_of(folds_by, weights)}-{row}",
        "system": row,
        "n": len(prepared.corpus.scores),
        "metrics": metrics,
        "intervals": {name: ends for name, ends in intervals.items() if ends},
        "counts": prepared.counts
        | {
            "folds_that_diverged": len(folds) - len(finished),
            SHARED: sum(fold[SHARED] for fold in folds),
            "folds_without_a_correlation": sum(
                fold["out_of_sample"]["pearson"] is None for fold in finished
            ),
        },
        "settings": dataclasses.asdict(settings)
        | {
            "folds_by": folds_by,
            "weights_between_folds": weights,
            "row": row,
            "label": experiment.label,
            "epochs": settings.epochs(experiment.epochs),
        },
        "items": folds,
        "data": prepared.about,
        "module": None,
        "versions": {"python": platform.python_version()} | versions,
        "command": command,
        "seconds": round(sum(fold["seconds"] for fold in folds), 1),
    }


def markdown(results: Sequence[dict]) -> str:
    """Table 2 of the paper with a row for each result beside its figures, in its order.

    The paper does not say whether the model is initialised anew for each fold; rows of both
    readings stand one under the other. Where weights are carried, the last fold has trained on the
    pairs that it holds out.
    """
    order, body = list(TABLE_2), []
    for result in sorted(results, key=lambda result: order.index(result["settings"]["row"])):
        settings, intervals = result["settings"], result["intervals"]
        paper = TABLE_2[settings["row"]].paper
        ends = [fold.get("out_of_sample", {}).get("pearson") for fold in result["items"]]
        cells = [
            settings["label"],
            settings["folds_by"],
            settings["weights_between_folds"],
            _figure(paper[0]),
            *(_figure(result["metrics"].get(name), intervals.get(name, ())) for name in _METRICS),
            _figure(paper[1]),
            *map(_figure, (ends[0], ends[-1])),
            *(result["counts"][name] for name in _COUNTS),
            f"{result['seconds']:,.0f}",
        ]
        body.append(cells)
    headers = ["model", "folds", "weights", "paper", *_METRICS.values(), "paper, in sample"]
    headers += ["first fold", "last fold", *_COUNTS.values(), "seconds"]
    return tabulate(body, headers, tablefmt="github", disable_numparse=True) + "\n"


def _figure(value: float | None, interval: Sequence[float] = ()) -> str:
    if value is None:
        return "-"
    return f"{value:.4f}" + (" [{:.3f}, {:.3f}]".format(*interval) if interval else "")

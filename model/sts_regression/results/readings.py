"""Two readings of table 2 of Prijatelj et al. 2017: fresh weights in each fold, or carried ones.

The paper does not say whether the model is initialised anew for each fold. Both readings stand
beside the printed figures, with three measures of which lies nearer over the rows: the mean
absolute error, the rank correlation, and the mean absolute error of what a row loses out of sample.
Carried weights lose little: they have trained on most of the pairs that a fold holds out.
"""

import warnings
from collections.abc import Callable, Sequence

import numpy as np
from scipy import stats
from tabulate import tabulate

from model.sts_regression.choices import CARRIED, FRESH

_OUT, _IN = "pearson", "pearson_in_sample"
_RESAMPLES = 2000
_LEAST_ROWS = 3
"""Of fewer, neither measure says anything."""
_HEADERS = (
    *("row", "paper", "fresh", "carried", "first fold", "last fold"),
    *("paper, in sample", "fresh, in sample", "carried, in sample"),
)


def markdown(results: Sequence[dict], folds_by: str) -> str:
    """A table of the rows that both readings have; empty if there are none.

    Args:
      results: what `results.read` gives, in order.
      folds_by: how the folds were made.
    """
    rows = [
        _row(label, readings[FRESH], readings[CARRIED])
        for label, readings in both(results, folds_by).items()
    ]
    if not rows:
        return ""
    table = tabulate(rows, _HEADERS, tablefmt="github", floatfmt=".4f", missingval="-")
    return (
        f"**Fresh or carried weights, folds: {folds_by}.** Pearson's r out of sample, mean of the "
        "folds; with carried weights also the first and the last fold.\n\n"
        f"{table}\n\n{_nearness(rows)}"
    )


def in_order(results: Sequence[dict]) -> list[dict]:
    """Results in the paper's order, that of its scores; rows that it lacks come last."""

    def printed(result: dict) -> float:
        found = result["baselines"].get("paper", {}).get(_OUT)
        return -1.0 if found is None else found

    return sorted(results, key=printed, reverse=True)


def both(results: Sequence[dict], folds_by: str) -> dict[str, dict[str, dict]]:
    """Label -> reading -> result, of the trained rows that have both readings, in their order."""
    fresh, carried = (_of(results, folds_by, weights) for weights in (FRESH, CARRIED))
    return {
        label: {FRESH: fresh[label], CARRIED: carried[label]} for label in fresh if label in carried
    }


def _of(results: Sequence[dict], folds_by: str, weights: str) -> dict[str, dict]:
    """Results of trained rows by label."""
    found = {}
    for result in results:
        settings = result["settings"]
        if "epochs" in settings and (folds_by, weights) == (
            settings["folds_by"],
            settings["weights_between_folds"],
        ):
            found[settings["label"]] = result
    return found


def _row(label: str, fresh: dict, carried: dict) -> list:
    """The figures of one row, in the order of `_HEADERS`."""
    paper = carried["baselines"].get("paper", {})
    ends = carried["items"][0], carried["items"][-1]
    return [
        *(label, paper.get(_OUT), fresh["metrics"].get(_OUT), carried["metrics"].get(_OUT)),
        *(fold.get("out_of_sample", {}).get(_OUT) for fold in ends),
        *(paper.get(_IN), fresh["metrics"].get(_IN), carried["metrics"].get(_IN)),
    ]


def _nearness(rows: Sequence[list]) -> str:
    """How near each reading is to the paper, over the rows that have all figures."""
    whole = [row[1:4] + row[6:9] for row in rows if None not in row[1:4] + row[6:9]]
    if len(whole) < _LEAST_ROWS:
        return f"Which reading is nearer is not tested: {len(whole)} rows have all figures."
    out, in_sample = np.split(np.array(whole, dtype=np.float64).T, 2)
    measures = [
        ("mean absolute error", _mean_absolute_error, out),
        ("rank correlation", lambda of, to: stats.spearmanr(of, to).statistic, out),
        (
            "mean absolute error of r in sample minus r out of sample",
            _mean_absolute_error,
            in_sample - out,
        ),
    ]
    body = [
        [name, *(_with_interval(measure, found, paper) for found in readings)]
        for name, measure, (paper, *readings) in measures
    ]
    headers = [f"beside the paper's figures, {len(whole)} rows, 95%", FRESH, CARRIED]
    return tabulate(body, headers, tablefmt="github", disable_numparse=True)


def _mean_absolute_error(found: np.ndarray, paper: np.ndarray) -> float:
    return float(np.abs(found - paper).mean())


def _with_interval(
    measure: Callable[[np.ndarray, np.ndarray], float], found: np.ndarray, paper: np.ndarray
) -> str:
    """A measure of [rows] and the paper's [rows], with its interval over resampled rows."""
    with warnings.catch_warnings():  # of resamples in which all rows are the same
        warnings.simplefilter("ignore")
        drawn = stats.bootstrap(
            (found, paper),
            measure,
            n_resamples=_RESAMPLES,
            paired=True,
            vectorized=False,
            method="percentile",
            rng=0,
        )
    low, high = np.nanquantile(drawn.bootstrap_distribution, [0.025, 0.975])
    return f"{measure(found, paper):.3f} [{low:.3f}, {high:.3f}]"

"""Table 2 of Prijatelj et al. 2017 with our rows in it, as Markdown and as a figure.

The paper does not say whether the model is initialised anew for each fold. Where both readings were
run, they stand beside the printed figures, with three measures of which is nearer over the rows:
the mean absolute error, the rank correlation, and the mean absolute error of what a row loses out
of sample. Carried weights lose little: they have trained on most of the pairs that a fold holds
out.
"""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
from scipy import stats
from tabulate import tabulate

from common import statistics
from common.statistics import Sample
from model.sts_regression.experiments import COSINES, TABLE_2
from model.sts_regression.options import STS2016
from model.sts_regression.results import measures
from model.sts_regression.settings import CARRIED, FOLDS_BY, FRESH

_OUT, _IN = "pearson", "pearson_in_sample"
_LOST = {
    "folds_that_diverged": "diverged",
    "folds_without_a_correlation": "score all pairs alike",
}
_LEAST_ROWS = 3
"""Of fewer, no measure of which reading is nearer says anything."""
Results = Sequence[dict]
"""What `result.read` gives."""


def markdown(results: Results) -> str:
    """A table for each way of making and starting folds, and one for both readings."""
    by_way: dict[tuple[str, str], list[dict]] = {}
    for result in _in_order(results):
        settings = result["settings"]
        way = settings["folds_by"], settings["weights_between_folds"]
        by_way.setdefault(way, []).append(result)
    parts = [_table(way, some) for way, some in sorted(by_way.items())]
    parts += [_readings(results, folds_by) for folds_by in with_both_readings(results)]
    return "\n\n".join(parts) + "\n"


def with_both_readings(results: Results) -> list[str]:
    """The ways of making folds for which a row has fresh and carried weights."""
    return [folds_by for folds_by in FOLDS_BY if _both(results, folds_by)]


def draw(results: Results, folds_by: str, path: Path) -> None:
    """Draws r by fold of the rows that have both readings, beside the paper's figure, as SVG."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    rows = _both(results, folds_by)
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "folds", "font.size": 8}):
        figure = Figure(figsize=(8, 0.4 + 2 * -(-len(rows) // 3)), layout="constrained")
        for place, (label, readings) in enumerate(rows.items(), start=1):
            axes = figure.add_subplot(-(-len(rows) // 3), 3, place, title=label, ylim=(-0.3, 1.05))
            for result in readings:
                found = [fold.get("out_of_sample", {}).get(_OUT) for fold in result["items"]]
                name = f"{result['settings']['weights_between_folds']} weights"
                axes.plot(range(1, 1 + len(found)), np.array(found, float), "o-", label=name)
            axes.axhline(_paper(result)[0] or np.nan, ls="--", label="printed")
        figure.legend(*axes.get_legend_handles_labels(), loc="outside upper center", ncols=3)
        figure.savefig(path, format="svg", metadata={"Date": None})


def _in_order(results: Results) -> list[dict]:
    """Results in the paper's order, that of its scores; a module's come last."""
    order = [*TABLE_2, *COSINES]
    return sorted(results, key=lambda result: order.index(result["settings"]["row"]))


def _paper(result: dict) -> tuple[float | None, float | None]:
    """The paper's r out of sample and in sample, which are of this corpus alone."""
    row = result["settings"]["row"]
    is_there = row in TABLE_2 and f"-{STS2016}-" in result["name"]
    return TABLE_2[row].paper if is_there else (None, None)


def _table(way: tuple[str, str], results: Results) -> str:
    # A row of which a fold diverged names no test.
    measured = dict.fromkeys(name for result in results for name in result["metrics"])
    tests = [name for name in measured if name.startswith("pearson_") and name != _IN]
    headers = ["model", "Pearson r, 95%", "in sample", "MSE", "MSE in sample"]
    headers += [f"{name.removeprefix('pearson_')}, 95%" for name in tests]
    headers += ["paper", "paper, in sample", "seconds"]
    rows = []
    for result in results:
        shown = [
            _figure(result["metrics"].get(name), result["intervals"].get(name, []))
            for name in (_OUT, _IN, "mse", "mse_in_sample", *tests)
        ]
        label = result["settings"]["label"] + _lost(result)
        seconds = f"{result['seconds']:,.0f}"
        rows.append([label, *shown, *map(_figure, _paper(result)), seconds])
    return f"{_title(way, results[0])}\n\n{_body(rows, headers)}"


def _title(way: tuple[str, str], result: dict) -> str:
    """How many pairs there are, and how many of them leak."""
    folds, (folds_by, weights) = result["settings"]["folds"], way
    held_out = sum(fold["pairs_held_out"] for fold in result["items"])
    tests = "".join(
        f"; of {name}, {test['pairs_with_a_sentence_that_trains']:,} of {test['pairs']:,}"
        for name, test in result["data"]["tests"].items()
    )
    made = f"{folds} folds, {folds_by}, {weights} weights" if folds > 1 else "its own split"
    return (
        f"**{result['n']:,} pairs, {made}.** "
        f"{result['counts']['pairs_held_out_with_a_sentence_that_trains']:,} of the {held_out:,} "
        f"pairs held out share a sentence with a training pair{tests}."
    )


def _both(results: Results, folds_by: str) -> dict[str, tuple[dict, dict]]:
    """Label -> results of fresh and of carried weights, of the trained rows that have both."""
    found: dict[tuple[str, str], dict] = {}
    for result in _in_order(results):
        settings = result["settings"]
        if "epochs" in settings and settings["folds_by"] == folds_by:
            found[settings["label"], settings["weights_between_folds"]] = result
    labels = [label for label, weights in found if weights == FRESH and (label, CARRIED) in found]
    return {label: (found[label, FRESH], found[label, CARRIED]) for label in labels}


def _readings(results: Results, folds_by: str) -> str:
    """A table of the rows that both readings have, and how near each is to the paper."""
    rows = []
    for label, (fresh, carried) in _both(results, folds_by).items():
        folds = [fold.get("out_of_sample", {}).get(_OUT) for fold in carried["items"]]
        out, inside = (
            [printed, fresh["metrics"][name], carried["metrics"][name]]
            for name, printed in zip((_OUT, _IN), _paper(carried), strict=True)
        )
        rows.append([label, *out, folds[0], folds[-1], *inside])
    headers = ["row", "paper", FRESH, CARRIED, "first fold", "last fold"]
    headers += [f"{name}, in sample" for name in ("paper", FRESH, CARRIED)]
    table = tabulate(rows, headers, tablefmt="github", floatfmt=".4f", missingval="-")
    return (
        f"**Fresh or carried weights, folds: {folds_by}.** Pearson's r out of sample, mean of the "
        "folds; with carried weights also the first and the last fold.\n\n"
        f"{table}\n\n{_nearness([row[1:4] + row[6:] for row in rows])}"
    )


def _nearness(rows: list[list]) -> str:
    """How near each reading is to the paper, over the rows that have all figures."""
    whole = [row for row in rows if None not in row]
    if len(whole) < _LEAST_ROWS:
        return f"Which reading is nearer is not tested: {len(whole)} rows have all figures."
    out, in_sample = np.split(np.array(whole, dtype=np.float64).T, 2)
    lost = in_sample - out

    def nearness(some: np.ndarray, reading: int) -> dict[str, np.ndarray]:
        """The measures over resampled rows, int [..., rows]."""
        ranks = [stats.rankdata(out[index][some], axis=-1) for index in (reading, 0)]
        return {
            "mean absolute error": np.abs(out[reading] - out[0])[some].mean(axis=-1),
            "rank correlation": measures.correlation(*ranks),
            "mean absolute error of r in sample minus r out of sample": np.abs(
                lost[reading] - lost[0]
            )[some].mean(axis=-1),
        }

    columns = []
    for reading in (1, 2):
        sample = Sample(len(whole), partial(nearness, reading=reading))
        intervals = statistics.intervals(sample, seed=0)
        columns.append(
            {
                name: _figure(value, intervals.get(name, ()), digits=3)
                for name, value in sample.once().items()
            }
        )
    body = [[name, *(column[name] for column in columns)] for name in columns[0]]
    return _body(body, [f"beside the paper's figures, {len(whole)} rows, 95%", FRESH, CARRIED])


def _body(rows: list[list[str]], headers: list[str]) -> str:
    return tabulate(rows, headers, tablefmt="github", disable_numparse=True)


def _figure(value: float | None, interval: Sequence[float] = (), *, digits: int = 4) -> str:
    if value is None:
        return "-"
    return f"{value:.{digits}f}" + (" [{:.3f}, {:.3f}]".format(*interval) if interval else "")


def _lost(result: dict) -> str:
    """The folds for which the row has no mean."""
    folds, counts = result["settings"]["folds"], result["counts"]
    said = [
        f"{counts[name]} of {folds} folds {what}" for name, what in _LOST.items() if counts[name]
    ]
    return f" ({', '.join(said)})" if said else ""

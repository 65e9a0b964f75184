"""Results -> table 2 of Prijatelj et al. 2017 with our rows in it, as Markdown.

The paper does not say whether the model is initialised anew for each fold. Rows of both readings
stand one under the other, beside the printed figures. Where weights are carried, the last fold has
trained on the pairs that it holds out.
"""

from collections.abc import Sequence

from tabulate import tabulate

from model.sts_regression.data import TEST
from model.sts_regression.experiments import TABLE_2
from model.sts_regression.results import SHARED

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


def markdown(results: Sequence[dict]) -> str:
    """A row for each result, in the paper's order, that of its scores."""
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

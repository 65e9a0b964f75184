"""Pearson's r by fold, with fresh and with carried weights, beside the paper's figure."""

import io
from collections.abc import Sequence
from typing import Any

from model.sts_regression.choices import CARRIED, FRESH
from model.sts_regression.results.readings import both, in_order

_COLUMNS = 3
_WIDTH, _HEIGHT = 2.6, 1.9
"""Inches of a row's picture."""
_COLORS = {FRESH: "#748091", CARRIED: "#3b82c4"}
_PAPER = "#c2410c"


def svg(results: Sequence[dict], folds_by: str) -> bytes | None:
    """A picture for each row that has both readings; None if there are none.

    Args:
      results: what `results.read` gives.
      folds_by: how the folds were made.
    """
    rows = both(in_order(results), folds_by)
    if not rows:
        return None
    # Imported here: the folds are trained in processes that draw nothing.
    import matplotlib as mpl
    from matplotlib.figure import Figure

    lines = -(-len(rows) // _COLUMNS)
    columns = min(_COLUMNS, len(rows))
    buffer = io.BytesIO()
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "folds", "font.size": 8}):
        figure = Figure(figsize=(columns * _WIDTH, lines * _HEIGHT + 0.4), layout="constrained")
        axes = list(figure.subplots(lines, columns, sharey=True, squeeze=False).flat)
        for place, (label, readings) in zip(axes, rows.items(), strict=False):
            _draw(place, label, readings)
        for place in axes[len(rows) :]:
            place.set_visible(False)
        handles, labels = axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=3, frameon=False)
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    return buffer.getvalue()


def _draw(axes: Any, label: str, readings: dict[str, dict]) -> None:
    for weights, result in readings.items():
        found = [fold.get("out_of_sample", {}).get("pearson") for fold in result["items"]]
        folds = [number for number, r in enumerate(found, 1) if r is not None]
        axes.plot(
            folds,
            [found[number - 1] for number in folds],
            marker="o",
            markersize=3,
            linewidth=1.2,
            color=_COLORS[weights],
            label=f"{weights} weights",
        )
    printed = readings[CARRIED]["baselines"].get("paper", {}).get("pearson")
    if printed is not None:
        axes.axhline(printed, color=_PAPER, linewidth=1, linestyle="--", label="printed")
    axes.set_title(label, fontsize=8)
    axes.set_ylim(-0.3, 1.05)
    axes.set_xlabel("fold")
    if axes.get_subplotspec().is_first_col():
        axes.set_ylabel("r")
    axes.spines[["top", "right"]].set_visible(False)

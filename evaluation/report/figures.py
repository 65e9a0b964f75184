"""Ranks of true responses, and figures 7 and 8 of the paper: the text of SVG files."""

import io
from collections.abc import Mapping
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from evaluation.report.tables import Table
from evaluation.results import measure
from evaluation.results.result import SYSTEMS, Result

INK = "#748091"
"""Of text and axes: readable on white and on a dark page."""
COLORS = {"dev": "#3b82c4", "test": "#c2571a"}
_TEXTS = ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color")
_STYLE: dict[Any, Any] = {"font.size": 11, "svg.hashsalt": "figure", **dict.fromkeys(_TEXTS, INK)}
# Of a function that draws: colours of ticks are read as they are made.
_styled = mpl.rc_context(_STYLE)


@_styled
def scatter(result: Result) -> str:
    """Draw figure 7: the pairs of an STS result, gold similarity against the score."""
    figure, axes = _axes("gold similarity", "score")
    points = ([item[key] for item in result.items] for key in ("gold", "score"))
    axes.scatter(*points, s=14, color=COLORS["dev"], alpha=0.6, linewidths=0)
    return _document(figure)


@_styled
def rank_curve(results: Mapping[str, Result]) -> str:
    """Draw which share of true responses is among the first N, of each system and of chance."""
    figure, axes = _axes("first N responses", "share of the true ones among them")
    first = next(iter(results.values()))
    most: Any = first.settings.get("candidates") or max(item["rank"] for item in first.items)
    ranks = {name: [item["rank"] for item in one.items] for name, one in results.items()}
    for system in measure.systems(first):
        name = SYSTEMS.get(system, system)
        ranks[name] = [item["baselines"][system] for item in first.items]
    for name, of in ranks.items():
        shares = np.bincount(of, minlength=most + 1)[1:].cumsum() / len(of)
        axes.plot(range(1, len(shares) + 1), shares, label=name)
    first_n = np.arange(1, most + 1)  # on a logarithmic axis, chance is no straight line
    axes.plot(first_n, first_n / most, "--", label="chance", color=INK, linewidth=1)
    axes.set(xscale="log", ylim=(0, 1.02))
    axes.xaxis.set_major_formatter("{x:g}")
    axes.legend(frameon=False)
    return _document(figure)


@_styled
def nli_shares(table: Table) -> str:
    """Draw figure 8: a line for each column, with 95% intervals as bars; captions are dashed."""
    figure, axes = _axes("share of the NLI training data, %", "Pearson's r")
    for header in dict.fromkeys(cell.header for cell in table.cells):
        cells = [cell for cell in table.cells if cell.header == header]
        shares = [float(cell.row.rstrip("%")) for cell in cells]
        style = {"color": COLORS[header.split(",")[0]], "label": header, "marker": "o"}
        line = "--" if "captions" in header else "-"
        axes.plot(shares, [cell.value for cell in cells], line, **style)
        for share, cell in zip(shares, cells, strict=True):
            ends = cell.interval or [cell.value] * 2
            axes.plot([share, share], ends, color=style["color"], alpha=0.45)
    figure.legend(loc="outside upper center", ncols=2, frameon=False)
    return _document(figure)


def _axes(across: str, up: str) -> tuple[Figure, Any]:
    figure = Figure(figsize=(5.2, 3.8), layout="constrained")
    axes = figure.add_subplot(xlabel=across, ylabel=up)
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _document(figure: Figure) -> str:
    text = io.StringIO()
    figure.savefig(text, format="svg", transparent=True, metadata={"Date": None})
    return text.getvalue()

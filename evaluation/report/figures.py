"""Figures 7 and 8 of the paper, drawn by matplotlib as the text of SVG files."""

import io
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from evaluation.metrics.similarity import scale_0_to_5
from evaluation.report.table import Table
from evaluation.results.result import Result

INK = "#748091"
"""Of text and axes: readable on white and on a dark page."""
COLORS = {"dev": "#3b82c4", "test": "#c2571a"}
_TEXTS = ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color")
_STYLE: dict[Any, Any] = {"font.size": 11, "svg.hashsalt": "figure", **dict.fromkeys(_TEXTS, INK)}
# Of a function that draws: colours of ticks are read as they are made.
_styled = mpl.rc_context(_STYLE)


@_styled
def scatter(result: Result) -> str:
    """Draw figure 7: the items of an STS result, gold similarity against the module's.

    Negative angles are shown on the scale of STS, 0 to 5, as equation 2 puts them there.
    """
    figure, axes = _axes()
    gold = [item["gold"] for item in result.items]
    score = np.array([item["score"] for item in result.items])
    in_angles = are_angles(result)
    points = scale_0_to_5(score) if in_angles else score
    axes.scatter(gold, points, s=14, color=COLORS["dev"], alpha=0.6, linewidths=0)
    axes.set_xlabel(f"gold similarity, {min(gold, default=0):g} to {max(gold, default=5):g}")
    axes.set_ylabel("similarity of the embeddings, 0 to 5" if in_angles else "score")
    return _document(figure)


def are_angles(result: Result) -> bool:
    """Say whether scores are negative angles; those above 0 are the module's own."""
    return max((item["score"] for item in result.items), default=0.0) <= 0.0


@_styled
def nli_shares(table: Table) -> str:
    """Draw figure 8: a line for each column, with 95% intervals as bars; captions are dashed."""
    figure, axes = _axes()
    shares = [float(row.label.rstrip("%")) for row in table.rows]
    for header, *cells in zip(table.headers, *(row.cells for row in table.rows), strict=True):
        color = COLORS[header.split(",")[0]]
        style = "--" if "captions" in header else "-"
        axes.plot(
            shares, [cell.value for cell in cells], style, marker="o", color=color, label=header
        )
        for share, cell in zip(shares, cells, strict=True):
            axes.plot([share, share], cell.interval or [cell.value] * 2, color=color, alpha=0.45)
    axes.set_xlabel("share of the NLI training data, %")
    axes.set_ylabel("Pearson's r")
    figure.legend(loc="outside upper center", ncols=2, frameon=False)
    return _document(figure)


def _axes() -> tuple[Figure, Any]:
    figure = Figure(figsize=(5.2, 3.8), layout="constrained")
    axes = figure.add_subplot()
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _document(figure: Figure) -> str:
    text = io.StringIO()
    figure.savefig(text, format="svg", transparent=True, metadata={"Date": None})
    return text.getvalue()

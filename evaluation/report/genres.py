"""Pearson's r by genre as bars, with intervals: table 4 at a glance."""

from collections.abc import Sequence

from matplotlib.figure import Figure

from evaluation.report import (
    comparison,
    paper,
    svg,
    systems,
)
from evaluation.report.systems import BASELINE, Scored, System

COLORS = ("#3b82c4", "#1d4f80", "#8a5fb0", "#5f9a4a")
GREY, PAPER = "#9aa4b0", "#c2571a"
MOST = 5


def element(found: Sequence[System], name: str) -> str:
    """Return the bars of one STS data set, an element of an HTML page."""
    return svg.element(lambda: _figure(found, name), salt=f"genres-{name}")


def _figure(found: Sequence[System], name: str) -> Figure:
    """Draw our rows, the best baseline, and the paper's two untuned models as points."""
    shown = _shown(found, name)
    tall = 1.3 + 0.2 * (len(shown) + 1) * len(paper.GENRES)
    figure = Figure(figsize=(5.2, tall), layout="constrained")
    axes = figure.add_subplot()
    step, height = len(shown) + 1, 0.8
    for i, one in enumerate(shown):
        cells = comparison.genres(one)
        at = [genre * step + i for genre in range(len(paper.GENRES))]
        color = GREY if one.kind == BASELINE else COLORS[i % len(COLORS)]
        axes.barh(at, [cell.value or 0.0 for cell in cells], height, color=color, label=one.label)
        for y, cell in zip(at, cells, strict=True):
            if cell.interval:
                axes.plot(cell.interval, [y, y], color=svg.INK, linewidth=1.2, alpha=0.75)
    _points(axes, found, name, step=step)
    middle = [genre * step + (len(shown) - 1) / 2 for genre in range(len(paper.GENRES))]
    axes.set_yticks(middle, paper.GENRES)
    axes.tick_params(axis="y", length=0)
    axes.invert_yaxis()
    axes.set_xlabel("Pearson's r")
    axes.set_xlim(right=1.0)
    axes.spines[["top", "right"]].set_visible(False)
    handles = zip(*axes.get_legend_handles_labels(), strict=True)
    bars_first = sorted(handles, key=lambda pair: pair[1].endswith("(paper)"))
    keys = {"loc": "outside upper center", "ncols": 2, "frameon": False, "fontsize": 9.5}
    figure.legend(*zip(*bars_first, strict=True), **keys)
    return figure


def _shown(found: Sequence[System], name: str) -> list[Scored]:
    """Return what has bars: all that is not a baseline, and the best baseline with results."""
    scored = [one for one in systems.scored(found, name) if one.column is None]
    ours = [one for one in scored if one.kind != BASELINE][:MOST]
    baselines = [one for one in scored if one.kind == BASELINE]
    best = sorted(baselines, key=lambda one: one.metrics.get("pearson") or -1.0)[-1:]
    return ours + best


def _points(axes, found: Sequence[System], name: str, *, step: int) -> None:
    """Draw the paper's figures, where the data are its own."""
    split = name.removeprefix("sts-")
    result = next((s.results[name] for s in found if name in s.results), None)
    if result is None or result.n != paper.STS_PAIRS.get(name):
        return
    middle = (step - 2) / 2
    for model, marker in (("Reddit", "o"), ("Reddit+SNLI", "D")):
        at = [genre * step + middle for genre in range(len(paper.GENRES))]
        label = f"{model} (paper)"
        figures = paper.TABLE_4[model][split]
        axes.plot(figures, at, marker, color=PAPER, markersize=5.5, label=label, linestyle="")

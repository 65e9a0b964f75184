"""Figures 7 and 8 of the paper, and table 4 as bars: SVG files as text."""

from collections.abc import Sequence

import numpy as np

from evaluation.report import paper, paper_tables, svg
from evaluation.report.cells import BASELINE
from evaluation.report.nli_shares import Point
from evaluation.report.systems import Scored, System, scored
from evaluation.results.result import Result
from evaluation.tasks.similarity import scale_0_to_5

BLUE, ORANGE, GREY = "#3b82c4", "#c2571a", "#9aa4b0"
COLORS = (BLUE, "#1d5f9e", "#8a5fb0", "#5f9a4a")
MOST_BARS = 5
# Of figure 8: dashes tell the captions without colour.
LINES = (
    ("test", "captions", ORANGE, "--", "o"),
    ("dev", "captions", BLUE, "--", "s"),
    ("dev", "pearson", BLUE, "-", "s"),
    ("test", "pearson", ORANGE, "-", "o"),
)
NAMES = {"pearson": "all", "captions": "captions"}
INTERVALS = {"pearson": "interval", "captions": "captions_interval"}


@svg.styled
def scatter(result: Result) -> str:
    """Draw figure 7: the items of an STS result, gold similarity against the module's.

    Negative angles are shown on the scale of STS, 0 to 5, as equation 2 puts them there.
    """
    figure, axes = svg.axes_of()
    gold = [item["gold"] for item in result.items]
    score = np.array([item["score"] for item in result.items])
    in_angles = are_angles(result)
    if in_angles:
        score = scale_0_to_5(score)
    axes.scatter(gold, score, s=14, color=BLUE, alpha=0.6, linewidths=0)
    axes.set_xlabel(f"gold similarity, {min(gold, default=0):g} to {max(gold, default=5):g}")
    axes.set_ylabel("similarity of the embeddings, 0 to 5" if in_angles else "score")
    return svg.document(figure, salt="figure7")


def are_angles(result: Result) -> bool:
    """Say whether scores are negative angles; those above 0 are the module's own."""
    return max((item["score"] for item in result.items), default=0.0) <= 0.0


@svg.styled
def nli_share(points: Sequence[Point]) -> str:
    """Draw figure 8, Pearson's r by the share of NLI data.

    A line each for dev and test, all pairs and captions, with 95% intervals as bars.
    """
    figure, axes = svg.axes_of()
    for split, kind, color, style, marker in LINES:
        known = [
            (100 * point["share"], point[split][kind], point[split][INTERVALS[kind]])
            for point in points
            if point[split][kind] is not None
        ]
        if not known:
            continue
        shares, values, intervals = zip(*known, strict=True)
        label = f"{split}, {NAMES[kind]}"
        axes.plot(shares, values, style, color=color, marker=marker, markersize=4.5, label=label)
        for share, interval in zip(shares, intervals, strict=True):
            if interval:
                axes.plot([share, share], interval, color=color, linewidth=1, alpha=0.45)
    axes.set_xlabel("share of the NLI training data, %")
    axes.set_ylabel("Pearson's r")
    axes.set_xticks(range(0, 101, 10))
    axes.grid(axis="y", linewidth=0.5, alpha=0.25)
    svg.legend(figure, axes)
    return svg.document(figure, salt="figure8")


@svg.styled
def genre_bars(systems: Sequence[System], name: str) -> str:
    """Draw table 4 for one STS data set: our rows, the best baseline, and the paper's as points."""
    shown = _shown(systems, name)
    step = len(shown) + 1
    figure, axes = svg.axes_of(height=1.3 + 0.2 * step * len(paper.GENRES))
    for i, one in enumerate(shown):
        cells = paper_tables.genres(one)
        at = [genre * step + i for genre in range(len(paper.GENRES))]
        color = GREY if one.kind == BASELINE else COLORS[i % len(COLORS)]
        axes.barh(at, [cell.value or 0.0 for cell in cells], 0.8, color=color, label=one.label)
        for y, cell in zip(at, cells, strict=True):
            if cell.interval:
                axes.plot(cell.interval, [y, y], color=svg.INK, linewidth=1.2)
    middle = [genre * step + (len(shown) - 1) / 2 for genre in range(len(paper.GENRES))]
    if shown and paper_tables.is_papers(shown[0].results[0]):
        for model, marker in (("Reddit", "o"), ("Reddit+SNLI", "D")):
            of = paper.TABLE_4[model][name.removeprefix("sts-")]
            label = f"{model} (paper)"
            axes.plot(of, middle, marker, color=ORANGE, markersize=5.5, label=label, linestyle="")
    axes.set_yticks(middle, paper.GENRES)
    axes.tick_params(axis="y", length=0)
    axes.invert_yaxis()
    axes.set_xlabel("Pearson's r")
    axes.set_xlim(right=1.0)
    svg.legend(figure, axes)
    return svg.document(figure, salt=f"genres-{name}")


def _shown(systems: Sequence[System], name: str) -> list[Scored]:
    """Return what has bars: all that is not a baseline, and the best baseline with results."""
    found = [one for one in scored(systems, name) if one.column is None]
    ours = [one for one in found if one.kind != BASELINE][:MOST_BARS]
    baselines = [one for one in found if one.kind == BASELINE]
    return ours + sorted(baselines, key=lambda one: one.cell("pearson").value or -1.0)[-1:]

"""How scores grow with the number of training pairs: a table, a figure, a straight line on.

The line goes through the last points, log-odds of the score by the logarithm of the pairs, so that
it never leaves 0 and 1. It is an extrapolation and no more: nothing says that what grew straight so
far goes on so.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure
from scipy import special
from tabulate import tabulate

from evaluation.report import paper, scores, svg
from evaluation.report.rows import Row, figure

_SHARE = re.compile(r"growth (\d+)")
FIGURES = (("sts-dev", "pearson"), ("response_ranking", "p_at_1"), ("response_ranking", "p_at_10"))
COLORS = ("#3b82c4", "#c2571a", "#5f9a4a")
MARKERS = ("s", "o", "^")
LINE_THROUGH = 3
PAPERS_PAIRS = 600e6


@dataclass(frozen=True)
class Point:
    """What was trained on so many pairs, and its figures in the order of `FIGURES`."""

    pairs: float
    values: tuple[float | None, ...]


def split(rows: Sequence[Row]) -> tuple[list[Row], dict[int, Row]]:
    """Return the other rows, and by its share in percent each row named `growth SHARE`."""
    shares = {int(m[1]): row for row in rows if (m := _SHARE.fullmatch(row.label))}
    others = [row for row in rows if not _SHARE.fullmatch(row.label)]
    return others, dict(sorted(shares.items()))


def points(shares: dict[int, Row], *, of_files: Sequence[int]) -> list[Point]:
    """Return a point a share; None where a row lacks a figure.

    Args:
      shares: rows by the share of the files, in percent, that they were trained on: the first.
      of_files: how many pairs each file of the whole has.
    """
    made = []
    for share, row in shares.items():
        values = [row.figures(name, key) for name, key in FIGURES]
        pairs = sum(of_files[: round(len(of_files) * share / 100)])
        made.append(Point(pairs, tuple(v[0] if v else None for v in values)))
    return made


def has_lines(found: Sequence[Point]) -> bool:
    """Return whether any figure has points enough for a line."""
    return any(line(found, column) for column in range(len(FIGURES)))


def line(found: Sequence[Point], column: int) -> tuple[float, float] | None:
    """Return slope a tenfold and log-odds at one pair of the last points; None for too few."""
    known = [(p.pairs, v) for p in found if (v := p.values[column]) is not None and 0 < v < 1]
    if len(known) < LINE_THROUGH:
        return None
    pairs, values = zip(*known[-LINE_THROUGH:], strict=True)
    slope, offset = np.polyfit(np.log10(pairs), special.logit(values), 1)
    return float(slope), float(offset)


def on(fit: tuple[float, float], pairs: float | np.ndarray) -> np.ndarray:
    """Return the score that a line has at so many pairs."""
    slope, offset = fit
    return special.expit(slope * np.log10(pairs) + offset)


def table(found: Sequence[Point]) -> str:
    """Return the points as Markdown, and where the lines would be at the paper's 600 million."""
    names = [_label(name, key) for name, key in FIGURES]
    body = [
        [f"{point.pairs:,.0f}", *(figure([] if v is None else [v]) for v in point.values)]
        for point in found
    ]
    lines = [line(found, column) for column in range(len(FIGURES))]
    if has_lines(found):
        cells = [figure([float(on(fit, PAPERS_PAIRS))] if fit else []) for fit in lines]
        body.append(["600 million, by the lines alone", *cells])
        dan = paper.TABLE_1["DAN"]
        body.append(
            [
                "600 million, the paper (Transformer; DAN)",
                figure([paper.TABLE_3["Reddit"]["dev"]]),
                *(figure([dan[key]]) for key in ("p_at_1", "p_at_10")),
            ]
        )
    aligned = ["left"] + ["right"] * len(names)
    return tabulate(body, ["pairs", *names], "pipe", disable_numparse=True, colalign=aligned)


def document(found: Sequence[Point]) -> str:
    """Return the figure as an SVG file."""
    return svg.document(lambda: _figure(found), salt="growth")


def _label(name: str, key: str) -> str:
    return "STS-B dev, Pearson's r" if name == "sts-dev" else f"{scores.label(key)} of 100"


def _figure(found: Sequence[Point]) -> Figure:
    figure_ = Figure(figsize=(6.4, 4.2), layout="constrained")
    axes = figure_.add_subplot()
    for column, (name, key) in enumerate(FIGURES):
        known = [(p.pairs, p.values[column]) for p in found if p.values[column] is not None]
        if not known:
            continue
        color, marker = COLORS[column], MARKERS[column]
        axes.plot(*zip(*known, strict=True), color=color, marker=marker, label=_label(name, key))
        if fit := line(found, column):
            beyond = np.geomspace(known[-1][0], PAPERS_PAIRS)
            axes.plot(beyond, on(fit, beyond), color=color, linestyle=":")
    axes.set_xscale("log")
    axes.set_xlabel("training pairs (dotted: the line through the last three, extrapolated)")
    axes.set_ylim(0, 1)
    axes.grid(axis="y", linewidth=0.5, alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)
    if axes.lines:
        figure_.legend(loc="outside upper center", ncols=3, frameon=False, fontsize=9.5)
    return figure_

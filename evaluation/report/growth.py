"""How scores grow with the number of training pairs: a table, a picture, an extrapolation.

A straight line goes through the last points, log-odds of the score by the logarithm of the pairs,
so that it never leaves 0 and 1. Nothing says that growth goes on along it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from evaluation.report import paper, svg
from evaluation.report.tables import OURS, PAPER, Cell, Row, Scored, System, Table
from evaluation.results.text import label

_SHARE = re.compile(r"growth (\d+)")
METRICS = (("sts-dev", "pearson"), ("response_ranking", "p_at_1"), ("response_ranking", "p_at_10"))
COLORS = ("#3b82c4", "#c2571a", "#5f9a4a")
MARKERS = ("s", "o", "^")
LINE_THROUGH = 3
PAPERS_PAIRS = 600e6


@dataclass(frozen=True)
class Point:
    """A number of training pairs, and the scores of a model trained on them, as in `METRICS`."""

    pairs: float
    values: tuple[float | None, ...]


def split(systems: Sequence[System]) -> tuple[list[System], dict[int, System]]:
    """Return the other systems, and by its share in percent each that is named `growth SHARE`."""
    shares = {int(m[1]): one for one in systems if (m := _SHARE.fullmatch(one.label))}
    others = [one for one in systems if not _SHARE.fullmatch(one.label)]
    return others, dict(sorted(shares.items()))


def points(shares: dict[int, System], *, of_files: Sequence[int]) -> list[Point]:
    """Return a point a share; None where a system lacks a score.

    Args:
      shares: systems by the share of the files, in percent, that they were trained on: the first.
      of_files: how many pairs each file of the whole has.
    """
    made = []
    for share, system in shares.items():
        found = [Scored("", "", system.named(name)[:1]).cell(key) for name, key in METRICS]
        pairs = sum(of_files[: round(len(of_files) * share / 100)])
        made.append(Point(pairs, tuple(cell.value for cell in found)))
    return made


def has_lines(found: Sequence[Point]) -> bool:
    """Return whether any metric has points enough for a line."""
    return any(line(found, column) for column in range(len(METRICS)))


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


def table(found: Sequence[Point]) -> Table:
    """Return the points, and where the lines would be at the paper's 600 million pairs."""
    rows = [Row(f"{p.pairs:,.0f} pairs", [Cell(v) for v in p.values], OURS) for p in found]
    if has_lines(found):
        lines = [line(found, column) for column in range(len(METRICS))]
        cells = [Cell(float(on(fit, PAPERS_PAIRS)) if fit else None) for fit in lines]
        rows.append(Row("600 million, extrapolated", cells, OURS))
        dan = paper.TABLE_1["DAN"]
        values = (paper.TABLE_3["Reddit"]["dev"], dan["p_at_1"], dan["p_at_10"])
        rows.append(Row("600 million, Transformer; DAN", [Cell(v) for v in values], PAPER))
    return Table("Scores by training pairs", [_label(*one) for one in METRICS], rows)


def _label(name: str, key: str) -> str:
    return "STS-B dev, Pearson's r" if name == "sts-dev" else f"{label(key)} of 100"


@svg.styled
def picture(found: Sequence[Point]) -> str:
    """Draw the points and the lines: the text of an SVG file."""
    figure, axes = svg.axes_of(width=6.4, height=4.2)
    for column, (name, key) in enumerate(METRICS):
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
    if axes.lines:
        svg.legend(figure, axes, columns=3)
    return svg.document(figure, salt="growth")

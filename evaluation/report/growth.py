"""How scores grow with the number of training pairs: a table and a picture.

A straight line, the score by the logarithm of the pairs, goes through all points and no further:
beyond them nothing was measured. Its slope has an interval from resampling the items of all points
together.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from common import statistics
from common.errors import InputError
from common.statistics import Sample
from evaluation.report import paper, svg
from evaluation.report.cells import OURS, Cell, Row, Table
from evaluation.report.systems import Scored, System
from evaluation.results import measure
from evaluation.results.result import Result
from evaluation.results.text import label

NAME = "growth"
CHOSEN = "chosen.json"
PAPERS_PAIRS = 600e6
METRICS = (("sts-dev", "pearson"), ("response_ranking", "p_at_1"), ("response_ranking", "p_at_10"))
COLORS = ("#3b82c4", "#c2571a", "#5f9a4a")
MARKERS = ("s", "o", "^")
FEWEST_POINTS = 3
"""That a line is drawn through."""


@dataclass(frozen=True)
class Point:
    """A number of training pairs, and of each of `METRICS` a result; None where there is none."""

    pairs: float
    results: tuple[Result | None, ...]

    def cell(self, column: int) -> Cell:
        """Return one of `METRICS` with its interval."""
        found = self.results[column]
        return Scored("", OURS, [found] if found else []).cell(METRICS[column][1])


@dataclass(frozen=True)
class Line:
    """A straight line through the points: score = offset + slope * log10(pairs)."""

    slope: float
    offset: float
    interval: Sequence[float] | None
    """Of the slope."""

    @property
    def rises(self) -> bool:
        """Whether the interval of the slope excludes 0."""
        return self.interval is not None and not self.interval[0] <= 0 <= self.interval[1]


def points(shares: Mapping[int, System], *, of_files: Sequence[int]) -> list[Point]:
    """Return a point a share.

    Args:
      shares: systems by the share of the files, in percent, that they were trained on: the first.
      of_files: how many pairs each file of the whole has.
    """
    made = []
    for share, system in shares.items():
        found = tuple(next(iter(system.named(name)), None) for name, _ in METRICS)
        made.append(Point(_pairs(share, of_files), found))
    return made


def chosen_rates(
    models: Path, shares: Mapping[int, System], of_files: Sequence[int]
) -> dict[int, float]:
    """Return the learning rate of each share whose model's folder says which was chosen.

    Raises:
      InputError: if a `chosen.json` has no rate.
    """
    rates = {}
    for share, system in shares.items():
        path = models / f"{system.label.replace(' ', '_')}-{system.seeds[0]}" / CHOSEN
        if path.exists():
            try:
                rates[_pairs(share, of_files)] = float(json.loads(path.read_text())["rate"])
            except (ValueError, KeyError, TypeError) as error:
                raise InputError(f"{path}: says no rate ({error})") from error
    return rates


def _pairs(share: int, of_files: Sequence[int]) -> int:
    """Return how many pairs the first files have, so many percent of all."""
    files = round(len(of_files) * share / 100)
    if not files:
        raise InputError(
            f"{NAME}_{share}: {share}% of {len(of_files)} training files is no file; accepted: "
            "shares of one file or more"
        )
    return sum(of_files[:files])


def line(found: Sequence[Point], column: int) -> Line | None:
    """Return the least-squares line of one metric; None for too few points.

    The interval of its slope is the 95% bootstrap interval over items, each resample the same for
    all points; None where points have other items. It holds for these models: other seeds are not
    in it.
    """
    known = [
        (point.pairs, value, result)
        for point in found
        if (result := point.results[column]) and (value := point.cell(column).value) is not None
    ]
    if len(known) < FEWEST_POINTS:
        return None
    pairs, values, results = zip(*known, strict=True)
    x = np.log10(pairs)
    slope, offset = np.polyfit(x, values, 1)
    weights = (x - x.mean()) / np.sum((x - x.mean()) ** 2)  # the slope is this weighted sum
    key = METRICS[column][1]
    samples = [measure.sample_of(one, metrics=[key]) for one in results if one.items]
    ends = None
    if len(samples) == len(known) and len({sample.units for sample in samples}) == 1:
        ends = statistics.intervals(_weighted(samples, weights, key), seed=0).get(key)
    return Line(float(slope), float(offset), ends)


def _weighted(samples: Sequence[Sample], weights: np.ndarray, key: str) -> Sample:
    """Return the weighted sum of one metric of several samples of the same units."""

    def total(units: np.ndarray) -> dict[str, np.ndarray]:
        each = [sample.metrics(units)[key] for sample in samples]
        return {key: np.tensordot(weights, np.stack(each), axes=1)}

    return Sample(samples[0].units, total)


def table(found: Sequence[Point], rates: Mapping[int, float] | None = None) -> Table:
    """Return the points, and the slope of each metric's line.

    `rates` are learning rates by the number of pairs.
    """
    columns = range(len(METRICS))
    rows = [Row(f"{p.pairs:,.0f} pairs", [p.cell(n) for n in columns], OURS) for p in found]
    lines = [line(found, column) for column in columns]
    if any(lines):
        cells = [Cell(one.slope, one.interval) if one else Cell() for one in lines]
        rows.append(Row("more for ten times the pairs", cells, OURS))
    headers = [_label(found, column) for column in columns]
    if rates:
        headers.append("learning rate")
        for row, point in zip(rows, found, strict=False):
            row.cells.append(Cell(rates.get(int(point.pairs))))
        rows[-1].cells.extend([Cell()] * (len(headers) - len(rows[-1].cells)))
    return Table("Scores by training pairs", headers, rows)


def _label(found: Sequence[Point], column: int) -> str:
    name, key = METRICS[column]
    if name == "sts-dev":
        return "STS-B dev, r"
    results = (point.results[column] for point in found)
    settings = next((result.settings for result in results if result), {})
    return f"{label(key)} of {settings.get('candidates', paper.RANKING_CANDIDATES)}"


@svg.styled
def picture(found: Sequence[Point]) -> str:
    """Draw the points, and the lines whose slope is not 0: the text of an SVG file."""
    figure, axes = svg.axes_of(width=6.4, height=4.2)
    for column in range(len(METRICS)):
        known = [(p.pairs, p.cell(column)) for p in found if p.cell(column).value is not None]
        if not known:
            continue
        color, (pairs, cells) = COLORS[column], zip(*known, strict=True)
        values = [cell.value for cell in cells]
        style = {"color": color, "marker": MARKERS[column], "linestyle": ""}
        axes.plot(pairs, values, label=_label(found, column), **style)
        for at, cell in zip(pairs, cells, strict=True):
            if cell.interval:
                axes.plot([at, at], cell.interval, color=color, linewidth=1, alpha=0.6)
        if (fit := line(found, column)) and fit.rises:
            ends = np.array([pairs[0], pairs[-1]])
            axes.plot(ends, fit.offset + fit.slope * np.log10(ends), color=color, linestyle=":")
    axes.set_xscale("log")
    axes.set_xlabel("training pairs")
    axes.set_ylim(0, 1)
    axes.grid(axis="y", linewidth=0.5, alpha=0.25)
    if axes.lines:
        svg.legend(figure, axes, columns=3)
    return svg.document(figure, salt="growth")

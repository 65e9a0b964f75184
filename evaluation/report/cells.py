"""Tables of a report: cells, rows and notes, and their Markdown."""

import itertools
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from tabulate import tabulate

OURS, OTHER, BASELINE, PAPER = "ours", "other", "baseline", "paper"
NONE = "-"
MOST_COLUMNS = 4
"""Of a Markdown table: with their intervals, more do not fit on a page."""


@dataclass(frozen=True)
class Cell:
    """A number with its 95% interval and its deviation over seeds; None where there is none."""

    value: float | None = None
    interval: Sequence[float] | None = None
    percent: bool = False
    decimals: int = 3
    deviation: float | None = None

    @property
    def text(self) -> str:
        """The number as the table prints it, without its interval."""
        if self.value is None:
            return NONE
        shown = self._printed(self.value)
        return shown if self.deviation is None else f"{shown} ± {self._printed(self.deviation)}"

    @property
    def interval_text(self) -> str:
        """The interval as the table prints it; empty without one, or where nothing can vary."""
        if self.value is None or not self.interval or self.interval[0] == self.interval[1]:
            return ""
        low, high = self.interval
        return f"[{self._printed(low)}, {self._printed(high)}]"

    @property
    def whole_text(self) -> str:
        """The number, its deviation and its interval, as Markdown prints them."""
        return " ".join(filter(None, (self.text, self.interval_text)))

    def _printed(self, value: float) -> str:
        # Added to 0, what rounds to -0 is 0.
        rounded = round(100 * value if self.percent else value, self.decimals) + 0.0
        return f"{rounded:,.{self.decimals}f}"


def mean(
    values: Sequence[float],
    *,
    intervals: Sequence[Sequence[float] | None] = (),
    percent: bool = False,
    decimals: int = 3,
) -> Cell:
    """Return the mean of several runs, one value a run, with their standard deviation.

    Its interval is the mean of the runs' intervals, where each run has one: at least as wide as
    the interval of the mean, because no more than the same items vary in all runs.
    """
    if not values:
        return Cell(percent=percent, decimals=decimals)
    deviation = statistics.stdev(values) if len(values) > 1 else None
    known = [ends for ends in intervals if ends]
    ends = [statistics.fmean(end) for end in zip(*known, strict=True)]
    whole = ends if len(known) == len(values) else None
    return Cell(statistics.fmean(values), whole, percent, decimals, deviation)


@dataclass(frozen=True)
class Row:
    """One line of a table; `kind` is ours, other, baseline or paper.

    Rows of one `group` are shown under its name.
    """

    label: str
    cells: list[Cell]
    kind: str
    group: str = ""


@dataclass(frozen=True)
class Table:
    """A table, what it shows, and what must be known to read it."""

    title: str
    headers: list[str]
    rows: list[Row]
    notes: list[str] = field(default_factory=list)


def markdown(table: Table) -> str:
    """Return a table as Markdown: its title, its rows and its notes.

    Each group of rows is a table of its own, and one with more than `MOST_COLUMNS` columns becomes
    several, each with the rows that have a figure in it.
    """
    parts = [f"**{table.title}**"]
    for group in dict.fromkeys(row.group for row in table.rows):
        for columns in _columns(len(table.headers)):
            parts += _part(table, group, columns)
    return "\n\n".join([*parts, *(" ".join(table.notes) for _ in table.notes[:1])])


def _columns(count: int) -> Iterator[slice]:
    """Yield the columns of each part of a table, about as many in each, fewer first."""
    parts = -(-count // MOST_COLUMNS)
    ends = [count * part // parts for part in range(parts + 1)]
    yield from (slice(start, end) for start, end in itertools.pairwise(ends))


def _part(table: Table, group: str, columns: slice) -> Iterator[str]:
    body = [
        [
            f"{row.label} (paper)" if row.kind == PAPER else row.label,
            *(cell.whole_text for cell in row.cells[columns]),
        ]
        for row in table.rows
        if row.group == group and any(cell.value is not None for cell in row.cells[columns])
    ]
    headers = [group, *table.headers[columns]]
    aligned = ["left"] + ["right"] * (len(headers) - 1)
    if body:
        yield tabulate(body, headers, "pipe", disable_numparse=True, colalign=aligned)

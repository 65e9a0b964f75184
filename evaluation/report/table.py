"""Tables of the report: rows of cells, as Markdown and as CSV."""

import csv
import io
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from tabulate import tabulate

OURS, OTHER, BASELINE, PAPER = "ours", "other", "baseline", "paper"
NONE = "-"
WIDE = 4
"""With more columns, Markdown shows no intervals: they do not fit on a page."""


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
        shown = self.printed(self.value)
        return shown if self.deviation is None else f"{shown} ± {self.printed(self.deviation)}"

    @property
    def interval_text(self) -> str:
        """The interval as the table prints it; empty without one, or where nothing can vary."""
        if self.value is None or not self.interval or self.interval[0] == self.interval[1]:
            return ""
        low, high = map(self.printed, self.interval)
        return f"[{low}, {high}]"

    @property
    def whole_text(self) -> str:
        """The number, its deviation and its interval."""
        return " ".join(filter(None, (self.text, self.interval_text)))

    def printed(self, value: float | None) -> str:
        """Return a number in this cell's unit and decimals; empty for None."""
        if value is None:
            return ""
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

    @property
    def name(self) -> str:
        """The label; of the paper's rows, marked."""
        return f"{self.label} (paper)" if self.kind == PAPER else self.label


@dataclass(frozen=True)
class Table:
    """A table; `file` is its name as a CSV file, `n` the items of each data set."""

    file: str
    title: str
    headers: list[str]
    rows: list[Row]
    n: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def figures(self) -> Iterator[tuple[Row, str, Cell]]:
        """Yield each cell with a number, with its row and header."""
        for row in self.rows:
            for header, cell in zip(self.headers, row.cells, strict=True):
                if cell.value is not None:
                    yield row, header, cell


def pipes(body: Sequence[Sequence[str]], headers: Sequence[str]) -> str:
    """Return a Markdown table; the first column is aligned to the left."""
    escaped = [[value.replace("|", "\\|") for value in row] for row in body]
    aligned = ["left"] + ["right"] * (len(headers) - 1)
    return tabulate(escaped, headers, "pipe", disable_numparse=True, colalign=aligned)


def markdown(table: Table) -> str:
    """Return the rows of a table as Markdown, each group of rows as a table of its own."""
    wide = len(table.headers) > WIDE
    parts = []
    for group in dict.fromkeys(row.group for row in table.rows):
        rows = [row for row in table.rows if row.group == group]
        there = [
            any(row.cells[i].value is not None for row in rows) for i in range(len(rows[0].cells))
        ]
        body = [
            [
                row.name,
                *(
                    c.text if wide else c.whole_text
                    for c, on in zip(row.cells, there, strict=True)
                    if on
                ),
            ]
            for row in rows
        ]
        headers = [header for header, on in zip(table.headers, there, strict=True) if on]
        parts.append(pipes(body, [group, *headers]))
    return "\n\n".join(parts)


def as_csv(table: Table) -> str:
    """Return every number of a table as CSV, a line each, in the unit of the table."""
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(("data", "row", "kind", "figure", "value", "deviation", "low", "high"))
    for row, header, cell in table.figures():
        ends = map(cell.printed, cell.interval or (None, None))
        value, deviation = cell.printed(cell.value), cell.printed(cell.deviation)
        lines.writerow((row.group, row.label, row.kind, header, value, deviation, *ends))
    return text.getvalue()

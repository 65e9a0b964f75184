"""The long table of scores in, tables of it out: those that `paper.yaml` specifies, and a few more.

The paper's own rows are there where the data are the paper's: the official files of the STS
Benchmark, SNLI and SemEval. In table 1 they are there for other pairs from Reddit, with a note.
"""

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import yaml
from tabulate import tabulate

from evaluation.data import overlap
from evaluation.data.origin import REDDIT, SYNTHETIC
from evaluation.metrics import from_size
from evaluation.metrics.declared import label, main_metric
from evaluation.report.scores import ALL, BASELINE, OTHER, OURS, PAPER, Run, Score, mean
from evaluation.results.result import Group, Result, data_name

WIDE = 4
"""With more columns, Markdown shows no intervals: they do not fit on a page."""
NONE = "-"


@dataclass(frozen=True)
class Cell:
    """A number of a table with its 95% interval and its deviation over seeds, and where it stands.

    Rows of one `group` are shown under its name; `kind` is ours, other, baseline or paper. `of` is
    the system where the row does not name it.
    """

    row: str
    header: str
    value: float
    interval: Sequence[float] | None = None
    deviation: float | None = None
    kind: str = OURS
    group: str = ""
    percent: bool = False
    decimals: int = 3
    of: str = ""

    @property
    def text(self) -> str:
        """The number as the table prints it, without its interval."""
        shown = self.printed(self.value)
        return shown if self.deviation is None else f"{shown} ± {self.printed(self.deviation)}"

    @property
    def interval_text(self) -> str:
        """The interval as the table prints it; empty without one, or where nothing can vary."""
        if not self.interval or self.interval[0] == self.interval[1]:
            return ""
        low, high = map(self.printed, self.interval)
        return f"[{low}, {high}]"

    def printed(self, value: float | None) -> str:
        """Return a number in this cell's unit and decimals; empty for None."""
        if value is None:
            return ""
        # Added to 0, what rounds to -0 is 0.
        rounded = round(100 * value if self.percent else value, self.decimals) + 0.0
        return f"{rounded:,.{self.decimals}f}"


def cell_of(score: Score, row: str, header: str, **more: Any) -> Cell:
    """Return a score at its place."""
    return Cell(row, header, score.value, score.interval, score.deviation, **more)


Rows = dict[tuple[str, str], dict[str, Cell]]
"""By row and kind, its cells by header."""


@dataclass(frozen=True)
class Table:
    """A table; `file` is its name as a CSV file, `n` the items of each data set.

    Rows and columns come in the order of the cells; of several for one place the first counts.
    """

    file: str
    title: str
    cells: Sequence[Cell]
    n: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def groups(self) -> Iterator[tuple[str, list[str], Rows]]:
        """Yield each group of rows: its name, its headers, its rows."""
        for group in dict.fromkeys(cell.group for cell in self.cells):
            rows: Rows = {}
            cells = [cell for cell in self.cells if cell.group == group]
            for cell in cells:
                rows.setdefault((cell.row, cell.kind), {}).setdefault(cell.header, cell)
            yield group, list(dict.fromkeys(cell.header for cell in cells)), rows


def markdown(table: Table, *, wide: bool | None = None) -> str:
    """Return the rows of a table as Markdown, each group of rows as a table of its own.

    Intervals and systems are shown if there are at most `WIDE` columns, or as `wide` says.
    """
    parts = []
    for group, headers, rows in table.groups():
        whole = len(headers) <= WIDE if wide is None else wide
        body = []
        for (row, kind), cells in rows.items():
            line = [f"{row} (paper)" if kind == PAPER else row]
            for cell in map(cells.get, headers):
                more = [cell.interval_text] if cell and whole else []
                text = " ".join([cell.text, *filter(None, more)]) if cell else NONE
                line.append(f"{text}, {cell.of}" if cell and cell.of else text)
            body.append([text.replace("|", "\\|") for text in line])
        aligned = ["left"] + ["right"] * len(headers)
        names = [group, *headers]
        parts.append(tabulate(body, names, "pipe", disable_numparse=True, colalign=aligned))
    return "\n\n".join(parts)


def as_csv(table: Table) -> str:
    """Return every number of a table as CSV, a line each, in the unit of the table."""
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(("data", "row", "kind", "figure", "value", "deviation", "low", "high"))
    for group, headers, rows in table.groups():
        for (row, kind), cells in rows.items():
            for header, cell in ((header, cells[header]) for header in headers if header in cells):
                numbers = (cell.value, cell.deviation, *(cell.interval or (None, None)))
                lines.writerow((group, row, kind, header, *map(cell.printed, numbers)))
    return text.getvalue()


class Column(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which scores a column holds."""

    data: str
    metric: str
    group: str = ALL


class Spec(msgspec.Struct, forbid_unknown_fields=True):
    """A table: see `paper.yaml`."""

    title: str
    task: str = ""
    rows: str = ""
    columns: dict[str, Column] = {}
    metrics: list[str] = []
    percent: bool = False
    decimals: int = 3
    interval: str = ""
    note: str = ""
    paper_note: str = ""
    paper_on: str = ""
    paper: dict[str, dict[str, float]] = {}

    @property
    def has_groups(self) -> bool:
        """Whether a column is of some of the items alone."""
        return any(column.group != ALL for column in self.columns.values())

    def header(self, score: Score) -> str | None:
        """Return the column in which the table shows a score, if it does."""
        if score.column and (score.name != score.data or self.has_groups):
            return None  # results hold no groups of their baselines
        if self.columns:
            of = Column(score.data, score.metric, score.group)
            return next((name for name, column in self.columns.items() if column == of), None)
        is_shown = score.results[0].task == self.task and score.group == ALL
        is_shown &= score.data not in NAMED and score.metric in (self.metrics or [score.metric])
        return label(score.metric) if is_shown else None

    def group(self, data: str) -> str:
        """Return the group of rows in which the table shows a data set."""
        return "" if self.columns else data.removeprefix(self.task).removeprefix("-")


class Main(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A main figure: a metric of one data set, and the paper's of its two models."""

    label: str
    data: str
    metric: str
    of_baselines: str = ""
    paper: list[float | None] = []
    interval: str = ""


class Example(msgspec.Struct, frozen=True):
    """A pair of table 5: its score and label, and in what way the score is good or bad."""

    kind: str
    score: float
    gold: float
    sentence1: str
    sentence2: str


class Paper(msgspec.Struct, forbid_unknown_fields=True):
    """What `paper.yaml` holds."""

    tables: dict[str, Spec]
    main: list[Main]
    chosen_on: Main
    sizes: dict[str, dict[str, int]]
    candidates: int
    pretrained: dict[str, str]
    examples: list[Example]


SPECIFIED = msgspec.convert(
    yaml.safe_load(Path(__file__).with_name("paper.yaml").read_text(encoding="utf-8")), Paper
)
NAMED = {
    column.data
    for spec in SPECIFIED.tables.values()
    for column in spec.columns.values()
    if not spec.rows
}
"""The data that have columns; the others have groups of rows."""


def specified(scores: Sequence[Score]) -> list[Table]:
    """Return every table of `paper.yaml` that there is a score for, in its order."""
    made = (_specified(file, spec, scores) for file, spec in SPECIFIED.tables.items())
    return [table for table in made if table.cells]


def _specified(file: str, spec: Spec, scores: Sequence[Score]) -> Table:
    how: dict[str, Any] = {"percent": spec.percent, "decimals": spec.decimals}
    kinds = (spec.rows,) if spec.rows else (OURS, OTHER, BASELINE)
    cells: list[Cell] = []
    data: dict[str, Result] = {}
    for score in scores:
        header = spec.header(score) if score.kind in kinds else None
        if header is not None:
            data.setdefault(score.data, score.results[0])
            row, kind = score.row, score.kind
            if spec.rows:
                row, kind = f"{row.removeprefix(spec.rows).strip()}%", OURS
            group = spec.group(score.data)
            cells.append(cell_of(score, row, header, kind=kind, group=group, **how))
    if spec.rows:
        cells.sort(key=lambda cell: int(cell.row.rstrip("%")))
    for row, figures_of in spec.paper.items():
        for header, value in figures_of.items():
            of = spec.columns.get(header) or Column(spec.paper_on, header)
            if of.data in data and is_papers(data[of.data]):
                ends = interval_of(value, spec.interval, of.data, of.group)
                cells.append(
                    Cell(row, header, value, ends, None, PAPER, spec.group(of.data), **how)
                )
    if spec.columns:
        cells.sort(key=lambda cell: list(spec.columns).index(cell.header))
    notes = [spec.note, spec.paper_note if any(cell.kind == PAPER for cell in cells) else ""]
    if spec.task == "response_ranking":
        notes += known_of_pretrained(cell.row for cell in cells)
    n = {}
    for name, result in data.items():
        of_how_many = result.settings.get("candidates")
        n[f"{name} (of {of_how_many})" if of_how_many else name] = result.n
    return Table(file, spec.title, cells, n, [note for note in notes if note])


def interval_of(value: float, kind: str, data: str, group: str = ALL) -> list[float] | None:
    """Return the interval of a published figure that follows from the number of items."""
    if not kind:
        return None
    counts = SPECIFIED.sizes[data]
    of = from_size.of_correlation if kind == "correlation" else from_size.of_proportion
    return of(value, sum(counts.values()) if group == ALL else counts[group])


def known_of_pretrained(rows: Iterable[str]) -> list[str]:
    """Return what must be known of the pretrained models among some rows."""
    names = list(rows)
    known = SPECIFIED.pretrained.items()
    return [note for model, note in known if any(model in name for name in names)]


def is_papers(result: Result) -> bool:
    """Say whether a result is on the paper's data: by origin, or by name, size and genres."""
    origin, name = result.data.get("origin"), data_name(result.name)
    if result.task == "response_ranking":
        return origin == REDDIT and candidates(result) == SPECIFIED.candidates
    if result.task == "sts_regression":
        name = name.removesuffix(f"-{result.settings['row']}")
    counts = SPECIFIED.sizes.get(name, {})
    genres = {genre: of["n"] for genre, of in result.groups.items() if result.task == "sts"}
    return origin != SYNTHETIC and result.n == sum(counts.values()) and genres in ({}, counts)


def candidates(result: Result) -> int:
    """Return how many responses were ranked for each input."""
    return int(result.settings.get("candidates", SPECIFIED.candidates))


def table_5(runs: Sequence[Run]) -> Table:
    """Return the scores of the paper's own examples, which are in STS-B's test set."""
    scores: dict[tuple[str, ...], dict[str, list[float]]] = {}
    for run in runs:
        result = run.results.get("sts-test")
        for item in result.items if result and run.kind == OURS else []:
            texts = tuple(overlap.normalize(item[f"sentence{i}"]) for i in (1, 2))
            scores.setdefault(texts, {}).setdefault(run.system, []).append(item["score"])
    cells = []
    for one in SPECIFIED.examples:
        row = f"{one.kind}: {one.sentence1} / {one.sentence2}"
        ours = scores.get((overlap.normalize(one.sentence1), overlap.normalize(one.sentence2)), {})
        if ours:
            cells.append(Cell(row, "gold score", one.gold, decimals=1))
            cells.append(Cell(row, "the paper", one.score, decimals=2))
        cells += [Cell(row, system, *mean(values)) for system, values in ours.items()]
    return Table("table_5", "Table 5: the paper's examples, scored by -arccos(cosine)", cells)


def contamination(results: Iterable[Result]) -> Table:
    """Return how many items of each evaluation set are in the training data, and the scores.

    `results` are those of the command `contamination`; without any there are no cells.
    """
    cells = []
    for result in results:
        key = main_metric(result.metrics)
        row = result.name.removeprefix("contamination-") + (f", {label(key)}" if key else "")
        counts = {"items": result.n}
        counts |= {label(name): n for name, n in result.counts.items() if "in_training" in name}
        cells += [Cell(row, header, count, decimals=0) for header, count in counts.items()]
        groups = {"score of all": (result.metrics, result.intervals)}
        groups |= {k: (of["metrics"], of.get("intervals", {})) for k, of in result.groups.items()}
        cells += [
            Cell(row, header, value, ends.get(key))
            for header, (metrics, ends) in groups.items()
            if key and (value := metrics.get(key)) is not None
        ]
    return Table("contamination", "Evaluation items in the training data", cells)


def mistakes(result: Result) -> Table:
    """Return the errors of a result of `mistakes` by kind of text."""
    cells = []
    whole: Group = {"n": result.n, "metrics": result.metrics, "intervals": result.intervals}
    for row, of in {ALL: whole, **result.groups}.items():
        cells.append(Cell(row, "n", of["n"], decimals=0))
        ends = of.get("intervals", {})
        cells += [
            Cell(row, label(key), value, ends.get(key))
            for key, value in of["metrics"].items()
            if value is not None
        ]
    return Table(result.name, result.name.removeprefix("mistakes-"), cells)

"""The long table of scores in, tables of it out: those that `paper.yaml` specifies, and a few more.

The paper's own rows are there where the data are the paper's: the official files of the STS
Benchmark, SNLI and SemEval. In table 1 they are there for other pairs from Reddit, with a note.
"""

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from operator import itemgetter
from pathlib import Path

import msgspec
import yaml
from tabulate import tabulate

from common import statistics
from common.origin import GENERATED, REDDIT
from common.text_files import as_markdown, normalize
from evaluation.report.scores import BASELINE, OTHER, OURS, PAPER, Run, Score, long_table, mean
from evaluation.results.result import ALL, Result, data_name, label, main_metric

WIDE = 4  # with more columns, Markdown shows no intervals: they do not fit on a page
Rows = dict[tuple[str, str], dict[str, Score]]  # by row and kind, its cells by header


@dataclass(frozen=True)
class Table:
    """A table; `file` is its name as a CSV file, `n` the items of each data set.

    Rows and columns come in the order of the cells; of several for one place the first counts.
    """

    file: str
    title: str
    cells: Sequence[Score]
    decimals: int = 3
    n: dict[str, int] = field(default_factory=dict)
    note: str = ""

    def blocks(self) -> Iterator[tuple[str, list[str], Rows]]:
        """Yield each block of rows: its name, its headers, its rows."""
        for block in dict.fromkeys(cell.block for cell in self.cells):
            rows: Rows = {}
            cells = [cell for cell in self.cells if cell.block == block]
            for cell in cells:
                rows.setdefault((cell.row, cell.kind), {}).setdefault(cell.header, cell)
            yield block, list(dict.fromkeys(cell.header for cell in cells)), rows

    def turned(self) -> "Table":
        """Return the same table with its rows as columns."""
        return replace(self, cells=[c._replace(row=c.header, header=c.row) for c in self.cells])

    def number(self, value: float | None) -> str:
        """Return a number in this table's decimals; empty for None."""
        if value is None:
            return ""
        # With z, what rounds to -0 is 0.
        return f"{value:,}" if isinstance(value, int) else f"{value:z,.{self.decimals}f}"

    def words(self, cell: Score) -> list[str]:
        """Return a cell's number, its interval, if its ends differ, and its system."""
        number = self.number(cell.value)
        if cell.deviation is not None:
            number += f" ± {self.number(cell.deviation)}"
        low, high = cell.interval or (None, None)
        interval = "" if low == high else f"[{self.number(low)}, {self.number(high)}]"
        return [number, interval, cell.of]

    def markdown(self, *, wide: bool | None = None) -> str:
        """Return each block of rows as a Markdown table, with intervals if it is not too `wide`."""
        parts = []
        for block, headers, rows in self.blocks():
            whole = len(headers) <= WIDE if wide is None else wide
            body = []
            for (row, kind), cells in rows.items():
                name = as_markdown(row)
                line = [f"{name} (paper)" if kind == PAPER else name]
                for cell in map(cells.get, headers):
                    number, interval, of = self.words(cell) if cell else ("-", "", "")
                    text = f"{number} {interval}" if interval and whole else number
                    line.append(f"{text}, {as_markdown(of)}" if of else text)
                body.append(line)
            aligned = ["left"] + ["right"] * len(headers)
            names = [as_markdown(name) for name in (block, *headers)]
            parts.append(tabulate(body, names, "pipe", disable_numparse=True, colalign=aligned))
        return "\n\n".join(parts)

    def csv(self) -> str:
        """Return every number as CSV, a line each."""
        text = io.StringIO()
        lines = csv.writer(text, lineterminator="\n")
        lines.writerow(("data", "row", "kind", "figure", "value", "deviation", "low", "high"))
        for block, headers, rows in self.blocks():
            for (row, kind), cells in rows.items():
                for header in filter(cells.get, headers):
                    cell = cells[header]
                    numbers = (cell.value, cell.deviation, *(cell.interval or (None, None)))
                    lines.writerow((block, row, kind, header, *map(self.number, numbers)))
        return text.getvalue()


class Column(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """Which scores a column holds."""

    data: str
    metric: str
    group: str = ALL


class Spec(msgspec.Struct, forbid_unknown_fields=True):
    """A table: see `paper.yaml`."""

    title: str
    task: str = ""
    but: list[str] = []
    rows: str = ""
    columns: dict[str, Column] = {}
    metrics: list[str] = []
    decimals: int = 3
    interval: str = ""
    note: str = ""
    paper_on: str = ""
    paper: dict[str, list[float | None]] = {}

    def place(self, score: Score) -> tuple[str, str] | None:
        """Return the block and the header under which the table shows a score, if it does."""
        if score.kind not in ((self.rows,) if self.rows else (OURS, OTHER, BASELINE)):
            return None
        if score.name != score.data and (score.column or self.rows):
            return None  # a share is one row
        if score.column and any(column.group != ALL for column in self.columns.values()):
            return None  # results hold no groups of their baselines
        if self.columns:
            of = Column(score.data, score.metric, score.group)
            return next((("", name) for name, one in self.columns.items() if one == of), None)
        is_shown = score.results[0].task == self.task and score.group == ALL
        is_shown &= score.data not in self.but and score.metric in (self.metrics or [score.metric])
        return (self.block(score.data), label(score.metric)) if is_shown else None

    def block(self, data: str) -> str:
        """Return the block of rows of a data set."""
        return "" if self.columns else data.removeprefix(self.task).removeprefix("-")


class Main(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A main figure: a metric of one data set, and the paper's of its two models."""

    label: str
    data: str
    metric: str
    of_baselines: str = ""
    paper: list[float | None] = []
    interval: str = ""


PAPER_YAML = yaml.safe_load(Path(__file__).with_name("paper.yaml").read_text(encoding="utf-8"))
TABLES = msgspec.convert(PAPER_YAML["tables"], dict[str, Spec])
MAIN, ELSEWHERE = (msgspec.convert(PAPER_YAML[key], list[Main]) for key in ("main", "elsewhere"))
SIZES: dict[str, dict[str, int]] = PAPER_YAML["sizes"]
INTERVALS = {"correlation": statistics.fisher_interval, "proportion": statistics.wilson_interval}
"""Of a figure and the number of items."""
CANDIDATES = 100  # of which the paper ranks the true response


def specified(scores: Sequence[Score]) -> list[Table]:
    """Return every table of `paper.yaml` that there is a score for, in its order."""
    made = []
    for file, spec in TABLES.items():
        cells = []
        data: dict[str, Result] = {}
        for score in scores:
            if place := spec.place(score):
                data.setdefault(score.data, score.results[0])
                cells.append(score._replace(block=place[0], header=place[1]))
        if spec.rows:
            shares = [int(cell.row.removeprefix(spec.rows)) for cell in cells]
            ordered = sorted(zip(shares, cells, strict=True), key=itemgetter(0))
            cells = [cell._replace(row=f"{share}%", kind=OURS) for share, cell in ordered]
        places = spec.columns or {label(name): Column(spec.paper_on, name) for name in spec.metrics}
        for row, values in spec.paper.items():
            for (header, column), value in zip(places.items(), values, strict=False):
                if value is not None and column.data in data and is_papers(data[column.data]):
                    ends = interval_of(value, spec.interval, column.data, column.group)
                    block = spec.block(column.data)
                    cells.append(Score(row, PAPER, value, ends, header=header, block=block))
        if spec.columns:
            cells.sort(key=lambda cell: list(spec.columns).index(cell.header))
        of = {name: result.settings.get("candidates") for name, result in data.items()}
        n = {f"{name} (of {of[name]})" if of[name] else name: data[name].n for name in data}
        if cells:
            made.append(Table(file, spec.title, cells, spec.decimals, n, spec.note))
    return made


def interval_of(value: float, kind: str, data: str, group: str = ALL) -> list[float] | None:
    """Return the interval of a published figure that follows from the number of items."""
    counts = SIZES.get(data, {})
    n = sum(counts.values()) if group == ALL else counts[group]
    return INTERVALS[kind](value, n) if kind else None


def is_papers(result: Result) -> bool:
    """Say whether a result is on the paper's data: by origin, or by name, size and genres."""
    origin, name = result.data.get("origin"), data_name(result.name)
    if result.task == "response_ranking":
        return origin == REDDIT and result.settings.get("candidates", CANDIDATES) == CANDIDATES
    if result.task == "sts_regression":
        name = name.removesuffix(f"-{result.settings['row']}")
    counts = SIZES.get(name, {})
    genres = {genre: of["n"] for genre, of in result.groups.items() if result.task == "sts"}
    return origin != GENERATED and result.n == sum(counts.values()) and genres in ({}, counts)


def table_5(runs: Sequence[Run]) -> Table:
    """Return the scores of the paper's own examples, which are in STS-B's test set."""
    scores: dict[tuple[str, str], dict[str, list[float]]] = {}
    for run in runs:
        result = run.results.get("sts-test")
        for item in result.items if result and run.kind == OURS else []:
            texts = normalize(item["sentence1"]), normalize(item["sentence2"])
            scores.setdefault(texts, {}).setdefault(run.system, []).append(item["score"])
    cells = []
    for kind, score, gold, one, other in PAPER_YAML["examples"]:
        if ours := scores.get((normalize(one), normalize(other))):
            row = f"{kind}: {one} / {other}"
            found = {"gold score": [gold], "the paper": [score], **ours}
            cells += [Score(row, OURS, *mean(of), header=name) for name, of in found.items()]
    return Table("table_5", "Examples, scored by -arccos(cosine) (table 5 of the paper)", cells)


def contamination(results: Sequence[Result]) -> Table:
    """Return how many items of each evaluation set are in the training data, and the scores."""
    cells = []
    scores = long_table([Run("", OURS, {result.name: result for result in results})])
    for result in results:
        main = (result.name, main_metric(result.metrics))
        row = result.name.removeprefix("contamination-")
        row += f", {label(main[1])}" if main[1] else ""
        counts = {"items": result.n}
        counts |= {label(name): n for name, n in result.counts.items() if "in_training" in name}
        cells += [Score(row, OURS, n, header=name) for name, n in counts.items()]
        for score in scores:
            if (score.name, score.metric) == main:
                header = "score of all" if score.group == ALL else score.group
                cells.append(score._replace(row=row, header=header))
    return Table("contamination", "Evaluation items in the training data", cells)


def mistakes(result: Result) -> Table:
    """Return the errors of a result of `mistakes` by kind of text."""
    cells = [Score(group, OURS, n, header="n") for _, group, n, *_ in result.parts()]
    scores = long_table([Run("", OURS, {result.name: result})])
    cells += [score._replace(row=score.group, header=label(score.metric)) for score in scores]
    return Table(result.name, result.name.removeprefix("mistakes-"), cells)

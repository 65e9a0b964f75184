"""The paper's tables with every system's rows in them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from evaluation.report import paper, scores, systems
from evaluation.report.systems import Scored, System
from evaluation.results.result import Result

NONE = "-"
PAPER = "paper"
SPLITS = ("dev", "test")


@dataclass(frozen=True)
class Cell:
    """A figure with its 95% interval, both as fractions; None where there is none."""

    value: float | None = None
    interval: Sequence[float] | None = None
    percent: bool = False
    decimals: int = 3

    @property
    def text(self) -> str:
        """The figure as the table prints it."""
        return NONE if self.value is None else self._printed(self.value)

    @property
    def interval_text(self) -> str:
        """The interval as the table prints it; empty without one, or where nothing can vary."""
        if self.value is None or not self.interval or self.interval[0] == self.interval[1]:
            return ""
        low, high = self.interval
        return f"[{self._printed(low)}, {self._printed(high)}]"

    def _printed(self, value: float) -> str:
        return f"{100 * value if self.percent else value:.{self.decimals}f}"


@dataclass(frozen=True)
class Row:
    """One line of a table; `kind` is ours, other, baseline or paper.

    Rows of one `group` stand under its name.
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


def tables(found: Sequence[System]) -> list[Table]:
    """Return every table of the paper that these systems have a row for, but for table 5."""
    made = [_table_1(found, name) for name in systems.names(found, "response_ranking")]
    if snli := systems.names(found, "snli"):
        made.append(_table_2(found, snli))
    splits = {split: list(systems.scored(found, f"sts-{split}")) for split in SPLITS}
    if any(splits.values()):
        made += [_table_3(splits), _table_4(splits)]
    if other := _other_sts(found):
        made.append(_table_other_sts(found, other))
    if cqa := systems.names(found, "cqa"):
        made.append(_table_6(found, cqa))
    return made


def _cells(scored: Scored, keys: Iterable[str], *, percent: bool, decimals: int) -> list[Cell]:
    return [
        Cell(scored.metrics.get(key), scored.intervals.get(key), percent, decimals) for key in keys
    ]


def _paper(figures: Mapping[str, float], keys: Iterable[str], **how) -> list[Cell]:
    return [Cell(figures.get(key), **how) for key in keys]


def _table_1(found: Sequence[System], name: str) -> Table:
    """Response prediction."""
    how: dict = {"percent": True, "decimals": 1}
    scored = list(systems.scored(found, name))
    keys = sorted(
        paper.TABLE_1["DAN"].keys() | scored[0].metrics, key=lambda key: int(key.split("_")[-1])
    )
    rows = [Row(one.label, _cells(one, keys, **how), one.kind) for one in scored]
    rows += [Row(label, _paper(row, keys, **how), PAPER) for label, row in paper.TABLE_1.items()]
    result = scored[0].result
    candidates = result.settings.get("candidates", paper.RANKING_CANDIDATES)
    notes = [
        f"Ours: {result.n:,} pairs, the true response among {candidates}. The paper's test set is "
        "a tenth of 600 million Reddit pairs, which nobody else has: compare with care."
    ]
    if candidates != paper.RANKING_CANDIDATES:
        notes.append("The paper ranks among 100: its rows do not compare with these.")
    title = "Table 1: finding the true response, precision at N (%)"
    return Table(title, [scores.label(key) for key in keys], rows, notes)


def _table_2(found: Sequence[System], names: list[str]) -> Table:
    """Natural language inference."""
    how: dict = {"percent": True, "decimals": 1}
    columns = {name: {one.label: one for one in systems.scored(found, name)} for name in names}
    rows = _joined(columns, "accuracy", **how)
    blank = [Cell()] * (len(names) - 1)
    place = names.index("snli-test") if "snli-test" in names else 0
    rows += [
        Row(label, [*blank[:place], Cell(value, **how), *blank[place:]], PAPER)
        for label, value in paper.TABLE_2.items()
    ]
    results = [one.result for name in names for one in systems.scored(found, name)]
    notes = list(dict.fromkeys(note for result in results for note in result.notes))
    if "snli-test" not in names:
        notes.append("The paper's rows are on SNLI's test set, which was not scored here.")
    sizes = [f"{name}: {next(iter(columns[name].values())).result.n:,} pairs" for name in names]
    notes.insert(0, f"{', '.join(sizes)}. The paper trained on 550,152 pairs.")
    title = "Table 2: natural language inference, accuracy (%)"
    return Table(title, [name.removeprefix("snli-") for name in names], rows, notes)


def _joined(columns: Mapping[str, Mapping[str, Scored]], key: str, **how) -> list[Row]:
    """Return a row for each label in any column, with one figure of each column."""
    kinds = {label: one.kind for column in columns.values() for label, one in column.items()}
    empty = Scored("", "", {}, {}, None)  # type: ignore[arg-type]
    return [
        Row(label, [_cells(c.get(label, empty), [key], **how)[0] for c in columns.values()], kind)
        for label, kind in kinds.items()
    ]


def _size_notes(splits: Mapping[str, list[Scored]]) -> list[str]:
    """Say so where a file is not the STS Benchmark's, which its size tells."""
    results = {scored[0].result.name: scored[0].result for scored in splits.values() if scored}
    return [
        f"{name} has {result.n:,} pairs here and {paper.STS_PAIRS[name]:,} in the "
        "STS Benchmark: the paper's rows do not compare with these."
        for name, result in results.items()
        if result.n != paper.STS_PAIRS.get(name, result.n)
    ]


def _table_3(splits: dict[str, list[Scored]]) -> Table:
    """STS Benchmark, overall."""
    columns = {split: {one.label: one for one in scored} for split, scored in splits.items()}
    rows = _joined(columns, "pearson", percent=False, decimals=3)
    rows += [Row(name, _paper(row, SPLITS), PAPER) for name, row in paper.TABLE_3.items()]
    title = "Table 3: Pearson's r on the STS Benchmark"
    return Table(title, list(splits), rows, _size_notes(splits))


def _table_4(splits: dict[str, list[Scored]]) -> Table:
    """STS Benchmark, by genre."""
    rows: dict[str, Row] = {}
    for place, scored in enumerate(splits.values()):
        for one in scored:
            if one.column is None:
                width = len(paper.GENRES)
                empty = Row(one.label, [Cell()] * width * len(splits), one.kind)
                cells = rows.setdefault(one.label, empty).cells
                cells[place * width : (place + 1) * width] = genres(one)
    made = list(rows.values())
    for name, figures in paper.TABLE_4.items():
        made.append(Row(name, [Cell(r) for split in splits for r in figures[split]], PAPER))
    headers = [f"{split} {genre}" for split in splits for genre in paper.GENRES]
    return Table("Table 4: Pearson's r by genre", headers, made, _size_notes(splits))


def genres(scored: Scored) -> list[Cell]:
    """Return Pearson's r over all and by genre, which the files call main-captions and so on."""
    cells = [Cell(scored.metrics.get("pearson"), scored.intervals.get("pearson"))]
    for genre in paper.GENRES[1:]:
        group = scored.result.groups.get(f"main-{genre}", {})
        figures, ends = group.get("metrics", {}), group.get("intervals", {})
        cells.append(Cell(figures.get("pearson"), ends.get("pearson")))
    return cells


def _other_sts(found: Sequence[System]) -> list[str]:
    """Return the names of similarity data that the paper does not have."""
    known = {f"sts-{split}" for split in SPLITS}
    names = systems.names(found, "sts")
    return [name for name in names if name.removesuffix("-tuned") not in known]


def _table_other_sts(found: Sequence[System], names: list[str]) -> Table:
    """Other similarity data."""
    plain = [name for name in names if not name.endswith("-tuned")]
    columns = {name: {one.label: one for one in systems.scored(found, name)} for name in plain}
    rows = _joined(columns, "pearson", percent=False, decimals=3)
    headers = [name.removeprefix("sts-") for name in plain]
    return Table("Other similarity data: Pearson's r, not in the paper", headers, rows)


def _table_6(found: Sequence[System], names: list[str]) -> Table:
    """Community question answering."""
    keys = ("map", "avg_rec", "mrr", "precision", "recall", "f1", "accuracy")
    how: dict = {"percent": True, "decimals": 2}
    rows = [
        Row(one.label, _cells(one, keys, **how), one.kind, name.removeprefix("cqa-"))
        for name in names
        for one in systems.scored(found, name)
    ]
    for label, figure in paper.TABLE_6.items():
        cells = _paper({"map": figure}, keys, **how)
        rows.append(Row(label, cells, PAPER, "SemEval-2017 test, in the paper"))
    notes = [
        "The paper's rows are on the test set of SemEval-2017. Queries without a relevant "
        "candidate count as 0, which sets the highest MAP a file allows (the ceiling): figures on "
        "different files do not compare."
    ]
    results = [system.results[name] for system in found for name in names if name in system.results]
    if not any(map(same_cqa, results)):
        notes.append("None of our rows scores this module on that test set.")
    headers = [scores.LABELS[key] for key in keys]
    title = "Table 6: community question answering, subtask B (%)"
    return Table(title, headers, rows, notes)


def same_cqa(result: Result) -> bool:
    """Say whether a module was scored on the very queries of the paper."""
    return result.system == "module" and result.n == paper.CQA_QUERIES.get(result.name)

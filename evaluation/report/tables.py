"""The paper's tables with a row for every system: for the HTML report and the Markdown page alike.

A system that was trained with several seeds has several runs: its cells are means over them, with
the standard deviation.
"""

import re
import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tabulate import tabulate

from evaluation.errors import InputError
from evaluation.report import paper
from evaluation.results import store
from evaluation.results.result import Result
from evaluation.results.text import SYSTEMS, label

OURS, OTHER, BASELINE, PAPER = "ours", "other", "baseline", "paper"
NONE = "-"
BASELINES = "baselines"
"""The folder in a folder of results that the command `baselines` writes to."""
NOT_SHOWN = ("untuned",)  # a row of its own elsewhere
SPLITS = ("dev", "test")
WITHOUT = ("without pairs in training", "without texts in training")
"""Groups of a result of `contamination`."""
_RUN = re.compile(r"(?P<name>.+)-(?P<seed>\d+)")


@dataclass(frozen=True)
class Cell:
    """A number with its 95% interval, or its deviation over seeds; None where there is none."""

    value: float | None = None
    interval: Sequence[float] | None = None
    percent: bool = False
    decimals: int = 3
    deviation: float | None = None

    @property
    def text(self) -> str:
        """The number as the table prints it."""
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

    def _printed(self, value: float) -> str:
        # Added to 0, what rounds to -0 is 0.
        rounded = round(100 * value if self.percent else value, self.decimals) + 0.0
        return f"{rounded:,.{self.decimals}f}"


def mean(
    values: Sequence[float],
    *,
    interval: Sequence[float] | None = None,
    percent: bool = False,
    decimals: int = 3,
) -> Cell:
    """Return the mean of several runs with their standard deviation, or one value's cell."""
    if not values:
        return Cell(percent=percent, decimals=decimals)
    deviation = statistics.stdev(values) if len(values) > 1 else None
    return Cell(statistics.fmean(values), interval, percent, decimals, deviation)


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


@dataclass(frozen=True)
class System:
    """A module or baseline: its results by name, one mapping a run."""

    label: str
    kind: str
    runs: tuple[Mapping[str, Result], ...]
    seeds: tuple[int, ...] = ()
    """Of the runs, where they have any."""

    def named(self, name: str) -> list[Result]:
        """Return the result of this name of each run that has it."""
        return [run[name] for run in self.runs if name in run]

    def results(self) -> Iterator[Result]:
        """Yield the results of all runs."""
        for run in self.runs:
            yield from run.values()


@dataclass(frozen=True)
class Scored:
    """A system's metrics on one data set.

    `column` is the name of the system among the baselines of the results, None if it is what they
    are of.
    """

    label: str
    kind: str
    results: Sequence[Result]
    column: str | None = None

    def cell(
        self, key: str, *, group: str | None = None, percent: bool = False, decimals: int = 3
    ) -> Cell:
        """Return one metric, of all items or of a group."""
        found = [self._figures(one, group) for one in self.results]
        values = [of[key] for of, _ in found if of.get(key) is not None]
        interval = found[0][1].get(key) if len(found) == 1 else None
        return mean(values, interval=interval, percent=percent, decimals=decimals)

    def _figures(self, result: Result, group: str | None) -> tuple[Mapping, Mapping]:
        """Return metrics and intervals."""
        if self.column is not None:
            of, ends = result.baselines, result.baseline_intervals
            return of.get(self.column, {}), ends.get(self.column, {})
        if group is None:
            return result.metrics, result.intervals
        found = result.groups.get(group, {})
        return found.get("metrics", {}), found.get("intervals", {})


def read_module(folder: Path, others: Sequence[Path] = ()) -> list[System]:
    """Read the results of a module and of its baselines, and those of other modules.

    Raises:
      InputError: if a folder has no results, or a file is none.
    """
    systems = [System(SYSTEMS["module"], OURS, (_by_name(folder),))]
    systems += [System(other.resolve().name, OTHER, (_by_name(other),)) for other in others]
    for path in _baselines(folder):
        results = _by_name(path)
        modules = [found.module for found in results.values() if found.module]
        name = _short(modules[0]["path"]) if modules else path.name
        systems.append(System(name, BASELINE, (results,)))
    return systems


def read_runs(folder: Path, runs: Sequence[str] = ()) -> list[System]:
    """Read a system for each name among folders NAME-SEED, then the baselines in `baselines/`.

    Args:
      folder: where they are.
      runs: those to read, as NAME-SEED; all that have results if none is named.

    Raises:
      InputError: if there is no such folder, or a file in it is no result.
    """
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder of results")
    for run in runs:
        if not _RUN.fullmatch(run) or not (folder / run).is_dir():
            names = sorted(path.name for path in folder.iterdir() if _RUN.fullmatch(path.name))
            there = ", ".join(names) or "none"
            raise InputError(f"--runs {run}: no such folder of results; {folder} has {there}")
    found: dict[str, dict[int, Mapping[str, Result]]] = {}
    for path in [folder / run for run in runs] or sorted(folder.iterdir()):
        if (match := _RUN.fullmatch(path.name)) and (runs or any(path.glob("*.json"))):
            found.setdefault(match["name"], {})[int(match["seed"])] = _by_name(path)
    if not found:
        raise InputError(f"{folder}: no results here (folders NAME-SEED of *.json are needed)")
    trained = [
        System(name.replace("_", " "), OURS, tuple(by_seed.values()), tuple(by_seed))
        for name, by_seed in found.items()
    ]
    return trained + [
        System(path.name.replace("_", " "), BASELINE, (_by_name(path),))
        for path in _baselines(folder)
    ]


def _baselines(folder: Path) -> list[Path]:
    """Return the folders of baselines that have results."""
    beside = folder / BASELINES
    paths = sorted(beside.iterdir()) if beside.is_dir() else []
    return [path for path in paths if path.is_dir() and any(path.glob("*.json"))]


def _by_name(folder: Path) -> dict[str, Result]:
    return {found.name: found for found in store.read_results(folder)}


def _short(path: str) -> str:
    """Return the last two parts of a long path."""
    return path if len(path) < 40 else "/".join(Path(path).parts[-2:])


def names(systems: Sequence[System], task: str) -> list[str]:
    """Return the names of all results of a task, the first system's first."""
    found = [r.name for system in systems for r in system.results() if r.task == task]
    return list(dict.fromkeys(found))


def scored(systems: Sequence[System], name: str) -> Iterator[Scored]:
    """Yield every system's metrics on one data set, in order; a tuned one behind its untuned.

    Last come the baselines that every result of these data holds, such as word overlap.
    """
    seen: list[Result] = []
    for system in systems:
        for one, suffix in ((name, ""), (f"{name}-tuned", ", tuned")):
            found = system.named(one)
            own = [result for result in found if result.system.startswith("module")]
            if own:
                yield Scored(system.label + suffix, system.kind, own)
            elif found and not seen:
                # What no module was scored on is the same in every folder.
                yield Scored(SYSTEMS.get(found[0].system, found[0].system), BASELINE, found[:1])
            seen += found
    first = next((result for result in seen if result.baselines), None)
    if first is None:
        return
    for column in first.baselines:
        if column not in NOT_SHOWN:
            yield Scored(SYSTEMS.get(column, column), BASELINE, [first], column)


def tables(systems: Sequence[System]) -> list[Table]:
    """Return every table of the paper that these systems have a row for, but for table 5."""
    made = [_table_1(systems, name) for name in names(systems, "response_ranking")]
    if snli := names(systems, "snli"):
        made.append(_table_2(systems, snli))
    if any(list(scored(systems, f"sts-{split}")) for split in SPLITS):
        made += [_table_3(systems), _table_4(systems)]
    if other := _other_sts(systems):
        columns = {name.removeprefix("sts-"): name for name in other}
        rows = _joined(systems, columns, lambda one: [one.cell("pearson")])
        made.append(
            Table("Other similarity data: Pearson's r, not in the paper", list(columns), rows)
        )
    if cqa := names(systems, "cqa"):
        made.append(_table_6(systems, cqa))
    return made


def _joined(
    systems: Sequence[System],
    columns: Mapping[str, str],
    cells: Callable[[Scored], list[Cell]],
    *,
    baselines: bool = True,
) -> list[Row]:
    """Return a row for each system on any of several data sets, with its cells on each.

    `columns` maps a header to the name of a result; `baselines` says whether those count that the
    results hold.
    """
    empty = len(cells(Scored("", "", []))) * [Cell()]
    rows: dict[str, Row] = {}
    for position, name in enumerate(columns.values()):
        for one in scored(systems, name):
            if baselines or one.column is None:
                new = Row(one.label, empty * len(columns), one.kind)
                row = rows.setdefault(one.label, new)
                start = position * len(empty)
                row.cells[start : start + len(empty)] = cells(one)
    return list(rows.values())


def _table_1(systems: Sequence[System], name: str) -> Table:
    """Response prediction."""
    how: dict = {"percent": True, "decimals": 1}
    found = list(scored(systems, name))
    result = found[0].results[0]
    keys = sorted(
        paper.TABLE_1["DAN"].keys() | result.metrics, key=lambda key: int(key.split("_")[-1])
    )
    rows = [Row(one.label, [one.cell(key, **how) for key in keys], one.kind) for one in found]
    rows += [
        Row(name, [Cell(of.get(key), **how) for key in keys], PAPER)
        for name, of in paper.TABLE_1.items()
    ]
    candidates = result.settings.get("candidates", paper.RANKING_CANDIDATES)
    notes = [
        f"Ours: {result.n:,} pairs, the true response among {candidates}. The paper's test set is "
        "a tenth of 600 million Reddit pairs, which nobody else has: compare with care."
    ]
    if candidates != paper.RANKING_CANDIDATES:
        notes.append("The paper ranks among 100: its rows do not compare with these.")
    title = "Table 1: finding the true response, precision at N (%)"
    return Table(title, [label(key) for key in keys], rows, notes)


def _table_2(systems: Sequence[System], found: list[str]) -> Table:
    """Natural language inference."""
    how: dict = {"percent": True, "decimals": 1}
    columns = {name.removeprefix("snli-"): name for name in found}
    rows = _joined(systems, columns, lambda one: [one.cell("accuracy", **how)])
    for name, value in paper.TABLE_2.items():
        cells = [Cell(value if one == "snli-test" else None, **how) for one in found]
        rows.append(Row(name, cells, PAPER))
    results = {name: next(iter(scored(systems, name))).results[0] for name in found}
    sizes = ", ".join(f"{name}: {result.n:,} pairs" for name, result in results.items())
    notes = [f"{sizes}. The paper trained on 550,152 pairs.", _labels_note(systems, found)]
    if "snli-test" not in found:
        notes.append("The paper's rows are on SNLI's test set, which was not scored here.")
    return Table("Table 2: natural language inference, accuracy (%)", list(columns), rows, notes)


def _labels_note(systems: Sequence[System], found: list[str]) -> str:
    """Return a note on where the labels come from; results note whether they are a module's own."""
    own = [
        system.label
        for system in systems
        if any(
            "the module's own" in n for name in found for r in system.named(name) for n in r.notes
        )
    ]
    rest = "come from a classifier that is trained on the embeddings"
    if not own:
        return f"Labels {rest}."
    return f"Labels of {', '.join(own)} are the module's own; those of other rows {rest}."


def _size_notes(systems: Sequence[System]) -> list[str]:
    """Return a note for each file that has not the STS Benchmark's number of pairs."""
    found = [next(iter(scored(systems, f"sts-{split}")), None) for split in SPLITS]
    results = [one.results[0] for one in found if one]
    return [
        f"{result.name} has {result.n:,} pairs here and {paper.STS_PAIRS[result.name]:,} in the "
        "STS Benchmark: the paper's rows do not compare with these."
        for result in results
        if result.n != paper.STS_PAIRS.get(result.name, result.n)
    ]


def _table_3(systems: Sequence[System]) -> Table:
    """STS Benchmark, overall."""
    columns = {split: f"sts-{split}" for split in SPLITS}
    rows = _joined(systems, columns, lambda one: [one.cell("pearson")])
    for name, of in paper.TABLE_3.items():
        rows.append(Row(name, [Cell(of[split]) for split in SPLITS], PAPER))
    title = "Table 3: Pearson's r on the STS Benchmark"
    return Table(title, list(columns), rows, _size_notes(systems))


def _table_4(systems: Sequence[System]) -> Table:
    """STS Benchmark, by genre."""
    columns = {split: f"sts-{split}" for split in SPLITS}
    rows = _joined(systems, columns, genres, baselines=False)
    for name, of in paper.TABLE_4.items():
        rows.append(Row(name, [Cell(r) for split in SPLITS for r in of[split]], PAPER))
    headers = [f"{split} {genre}" for split in SPLITS for genre in paper.GENRES]
    return Table("Table 4: Pearson's r by genre", headers, rows, _size_notes(systems))


def genres(one: Scored) -> list[Cell]:
    """Return Pearson's r over all and by genre, which the files call main-captions and so on."""
    groups = [None, *(f"main-{genre}" for genre in paper.GENRES[1:])]
    return [one.cell("pearson", group=group) for group in groups]


def _other_sts(systems: Sequence[System]) -> list[str]:
    """Return the names of similarity data that the paper does not have."""
    known = {f"sts-{split}" for split in SPLITS}
    return [
        name for name in names(systems, "sts") if name not in known and not name.endswith("-tuned")
    ]


def _table_6(systems: Sequence[System], found: list[str]) -> Table:
    """Community question answering."""
    keys = ("map", "avg_rec", "mrr", "precision", "recall", "f1", "accuracy")
    how: dict = {"percent": True, "decimals": 2}
    rows = [
        Row(one.label, [one.cell(key, **how) for key in keys], one.kind, name.removeprefix("cqa-"))
        for name in found
        for one in scored(systems, name)
    ]
    for name, value in paper.TABLE_6.items():
        cells = [Cell(value if key == "map" else None, **how) for key in keys]
        rows.append(Row(name, cells, PAPER, "SemEval-2017 test, in the paper"))
    notes = [
        "The paper's rows are on the test set of SemEval-2017. Queries without a relevant "
        "candidate count as 0, which sets the highest MAP a file allows (the ceiling): scores on "
        "different files do not compare."
    ]
    results = (result for system in systems for name in found for result in system.named(name))
    if not any(r.system == "module" and r.n == paper.CQA_QUERIES.get(r.name) for r in results):
        notes.append("None of our rows scores a module on that test set.")
    title = "Table 6: community question answering, subtask B (%)"
    return Table(title, [label(key) for key in keys], rows, notes)


def contamination(results: Iterable[Result]) -> Table | None:
    """Return how many items of each evaluation set are in the training data, and the scores.

    `results` are those of the command `contamination`; without any there is no table.
    """
    rows = []
    for one in results:
        # A result is known by the first of these metrics that it has.
        keys = (key for key in ("p_at_1", "map", "pearson", "accuracy") if key in one.metrics)
        key = next(keys, None)
        found = Scored("", "", [one])
        counts = [one.n, one.counts["pairs_in_training"], one.counts["texts_in_training"]]
        cells = [Cell(count, decimals=0) for count in counts]
        cells += [found.cell(key, group=g) if key else Cell() for g in (None, *WITHOUT)]
        name = one.name.removeprefix("contamination-")
        rows.append(Row(f"{name}, {label(key)}" if key else name, cells, OURS))
    if not rows:
        return None
    headers = ["items", "pairs in training", "texts in training", "score of all", *WITHOUT]
    return Table("Evaluation items in the training data", headers, rows)


def mistakes(result: Result) -> Table:
    """Return the errors of a result of `mistakes` by kind of text."""
    found, keys = Scored("", "", [result]), list(result.metrics)
    rows = [
        Row(
            group or "all",
            [
                Cell(result.groups[group]["n"] if group else result.n, decimals=0),
                *(found.cell(key, group=group) for key in keys),
            ],
            OURS,
        )
        for group in (None, *result.groups)
    ]
    return Table(result.name.removeprefix("mistakes-"), ["n", *map(label, keys)], rows)


def markdown(table: Table) -> str:
    """Return a table as Markdown: its title, one table for each group of rows, its notes."""
    parts = [f"**{table.title}**"]
    for group in dict.fromkeys(row.group for row in table.rows):
        body = [
            [
                f"{row.label} (paper)" if row.kind == PAPER else row.label,
                *(cell.text for cell in row.cells),
            ]
            for row in table.rows
            if row.group == group
        ]
        aligned = ["left"] + ["right"] * len(table.headers)
        headers = [group, *table.headers]
        parts.append(tabulate(body, headers, "pipe", disable_numparse=True, colalign=aligned))
    return "\n\n".join([*parts, *(" ".join(table.notes) for _ in table.notes[:1])])

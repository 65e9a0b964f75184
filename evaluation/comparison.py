"""The paper's tables with our rows in them, as text cells ready to be laid out."""

from dataclasses import dataclass, field

from evaluation import paper, scores
from evaluation.result import Metrics, Result

NONE = "-"


@dataclass(frozen=True)
class Row:
    """One line of a table; `kind` is ours, baseline or paper."""

    label: str
    cells: list[str]
    kind: str


@dataclass(frozen=True)
class Table:
    """A table, what it shows, and what must be known to read it."""

    title: str
    headers: list[str]
    rows: list[Row]
    notes: list[str] = field(default_factory=list)


def tables(results: list[Result]) -> list[Table]:
    """Return every table of the paper that these results have a row for."""
    sts = {result.name: result for result in results if result.task == "sts"}
    splits = {"dev": sts.get("sts-dev"), "test": sts.get("sts-test")}
    found = []
    for result in results:
        if result.task == "response_ranking":
            found.append(_table_1(result))
    if any(splits.values()):
        found += [_table_3(splits), _table_4(splits)]
    cqa = [result for result in results if result.task == "cqa"]
    if cqa:
        found.append(_table_6(cqa))
    return found


def _percent(value: float | None, *, decimals: int = 1) -> str:
    """Return a fraction in percent."""
    return NONE if value is None else f"{100 * value:.{decimals}f}"


def _r(value: float | None) -> str:
    """Return a correlation as the paper prints it."""
    return NONE if value is None else f"{value:.3f}"


def _systems(result: Result) -> list[tuple[str, Metrics, str]]:
    """Return (label, metrics, kind) for what was scored and its baselines."""
    kinds = ["ours" if result.system == "module" else "baseline"]
    kinds += ["baseline"] * len(result.baselines)
    return [(*row, kind) for row, kind in zip(scores.systems(result), kinds, strict=True)]


def _table_1(result: Result) -> Table:
    """Response prediction."""
    keys = ("p_at_1", "p_at_3", "p_at_10")
    rows = [
        Row(label, [_percent(metrics.get(key)) for key in keys], kind)
        for label, metrics, kind in _systems(result)
    ]
    rows += [
        Row(name, [_percent(metrics[key]) for key in keys], "paper")
        for name, metrics in paper.TABLE_1.items()
    ]
    candidates = result.settings.get("candidates", paper.RANKING_CANDIDATES)
    notes = [
        f"Ours: {result.n:,} pairs, the true response among {candidates}. The paper's test set is "
        "a tenth of 600 million Reddit pairs, which nobody else has: compare with care."
    ]
    if candidates != paper.RANKING_CANDIDATES:
        notes.append("The paper ranks among 100: its rows do not compare with these.")
    title = "Table 1: finding the true response, precision at N (%)"
    return Table(title, [scores.LABELS[key] for key in keys], rows, notes)


def _size_notes(splits: dict[str, Result | None]) -> list[str]:
    """Say so where a file is not the STS Benchmark's, which its size tells."""
    return [
        f"{result.name} has {result.n:,} pairs here and {paper.STS_PAIRS[result.name]:,} in the "
        "STS Benchmark: the paper's rows do not compare with these."
        for result in splits.values()
        if result is not None and result.n != paper.STS_PAIRS[result.name]
    ]


def _table_3(splits: dict[str, Result | None]) -> Table:
    """STS Benchmark, overall."""
    systems: dict[str, dict[str, str]] = {}
    kinds = {}
    for split, result in splits.items():
        for label, metrics, kind in _systems(result) if result else []:
            systems.setdefault(label, {})[split] = _r(metrics.get("pearson"))
            kinds[label] = kind
    rows = [
        Row(label, [cells.get(split, NONE) for split in splits], kinds[label])
        for label, cells in systems.items()
    ]
    rows += [
        Row(name, [_r(figures[split]) for split in splits], "paper")
        for name, figures in paper.TABLE_3.items()
    ]
    title = "Table 3: Pearson's r on the STS Benchmark"
    return Table(title, list(splits), rows, _size_notes(splits))


def _table_4(splits: dict[str, Result | None]) -> Table:
    """STS Benchmark, by genre."""
    cells = []
    for result in splits.values():
        cells += [_r(_genre_pearson(result, genre)) for genre in paper.GENRES]
    rows = [Row(scores.SYSTEMS["module"], cells, "ours")]
    for name, figures in paper.TABLE_4.items():
        rows.append(Row(name, [_r(r) for split in splits for r in figures[split]], "paper"))
    headers = [f"{split} {genre}" for split in splits for genre in paper.GENRES]
    title = "Table 4: Pearson's r by genre"
    return Table(title, headers, rows, _size_notes(splits))


def _genre_pearson(result: Result | None, genre: str) -> float | None:
    """Return one genre's Pearson's r; the files name the genres main-captions and so on."""
    if result is None:
        return None
    if genre == "all":
        return result.metrics["pearson"]
    return result.groups.get(f"main-{genre}", {"metrics": {}})["metrics"].get("pearson")


def _table_6(results: list[Result]) -> Table:
    """Community question answering."""
    keys = ("map", "avg_rec", "mrr")
    rows = []
    for result in results:
        answerable = result.counts.get("queries_with_a_relevant_candidate", 0) / result.n
        for label, metrics, kind in _systems(result):
            cells = [_percent(metrics.get(key), decimals=2) for key in keys]
            cells.append(_percent(answerable, decimals=2))
            rows.append(Row(f"{label}, {result.name.removeprefix('cqa-')}", cells, kind))
    for name, figure in paper.TABLE_6.items():
        rows.append(Row(name, [_percent(figure, decimals=2), NONE, NONE, NONE], "paper"))
    notes = [
        "The paper's rows are on the test set of SemEval-2017. Queries without a relevant "
        "candidate count as 0, which sets the highest MAP a file allows: figures on different "
        "files do not compare."
    ]
    compared = any(
        result.system == "module" and result.n == paper.CQA_QUERIES.get(result.name)
        for result in results
    )
    if not compared:
        notes.append("None of our rows scores this module on that test set.")
    headers = [*(scores.LABELS[key] for key in keys), "highest MAP"]
    title = "Table 6: community question answering, subtask B (%)"
    return Table(title, headers, rows, notes)

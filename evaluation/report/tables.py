"""The tables of the report: those that `paper.yaml` specifies, and those of single commands.

The paper's own rows are there where the data are the paper's: the official files of the STS
Benchmark, SNLI and SemEval. In table 1 they are there for other pairs from Reddit, with a note.
"""

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from evaluation.data import overlap
from evaluation.data.origin import REDDIT, SYNTHETIC
from evaluation.report import paper
from evaluation.report.systems import ALL, Scored, System, names, scored
from evaluation.report.table import BASELINE, OURS, PAPER, Cell, Row, Table, mean
from evaluation.results.result import Result, data_name, main_metric
from evaluation.results.text import label

WITHOUT = ("without pairs in training", "without texts in training")
"""Groups of a result of `contamination`."""


def of_paper(systems: Sequence[System]) -> list[Table]:
    """Return every table of `paper.yaml` that these systems have a row for, in its order."""
    made: list[Table] = []
    shown: set[str] = set()
    for file, spec in paper.PAPER.tables.items():
        there = dict.fromkeys(map(data_name, names(systems, spec.task)))
        others = [name for name in there if name not in shown]
        data = [name for name in spec.data or others if name in there]
        if data:
            made.append(_table(systems, file, spec, data))
            shown.update(data)
    return made


def _table(systems: Sequence[System], file: str, spec: paper.Spec, data: list[str]) -> Table:
    on = {name: list(scored(systems, name)) for name in data}
    first = {name: some[0].results[0] for name, some in on.items()}
    metrics = list(spec.metrics)
    if spec.task == "response_ranking":  # whatever --at named
        metrics = sorted({*metrics, *first[data[0]].metrics}, key=lambda key: int(key[5:]))
    how: dict[str, Any] = {"percent": spec.percent, "decimals": spec.decimals}
    rows: list[Row] = []
    for part in [[name] for name in data] if spec.stacked else [data]:
        group = part[0].removeprefix(spec.task).removeprefix("-") if spec.stacked else ""
        columns = list(itertools.product(part, spec.groups, metrics))
        found: dict[tuple[str, str], Row] = {}
        for at, (name, genre, key) in enumerate(columns):
            for one in on[name]:
                if len(spec.groups) > 1 and one.column:
                    continue  # results hold no genres of their baselines
                new = Row(one.label, [Cell(**how)] * len(columns), one.kind, group)
                row = found.setdefault((one.label, one.kind), new)
                row.cells[at] = one.cell(key, group=genre, **how)
        rows += found.values()
        papers = [name for name in part if is_papers(first[name])]
        for of, figures in spec.paper.items():
            known = {
                column: value
                for name in papers
                for column, value in zip(
                    itertools.product([name], spec.groups, spec.metrics),
                    figures.get(name, []),
                    strict=False,  # of some tables it has the first column alone
                )
            }
            if known:
                cells = [
                    paper.published(known.get(one), spec.interval, _size(*one[:2]), **how)
                    for one in columns
                ]
                rows.append(Row(of, cells, PAPER, group))
    headers = [
        label(key)
        if spec.stacked
        else " ".join(
            [
                name.removeprefix(f"{spec.task}-"),
                *[genre.removeprefix("main-")][: len(spec.groups) - 1],
            ]
        )
        for name, genre, key in columns
    ]
    n = {}
    for name, result in first.items():
        of_how_many = result.settings.get("candidates")
        n[f"{name} (of {of_how_many})" if of_how_many else name] = result.n
    notes = [spec.note, spec.paper_note if any(row.kind == PAPER for row in rows) else ""]
    if spec.task == "response_ranking":
        notes += known_of_pretrained(row.label for row in rows)
    return without_empty_columns(
        Table(file, spec.title, headers, rows, n, [note for note in notes if note])
    )


def _size(name: str, genre: str) -> int:
    """Return how many items the paper has."""
    return paper.SIZES.get(name, 0) if genre == ALL else paper.OFFICIAL_COUNTS[name][genre]


def without_empty_columns(table: Table) -> Table:
    """Return the table without the columns in which no row has a figure."""
    kept = [
        any(row.cells[at].value is not None for row in table.rows)
        for at in range(len(table.headers))
    ]
    rows = [replace(row, cells=list(itertools.compress(row.cells, kept))) for row in table.rows]
    return replace(table, headers=list(itertools.compress(table.headers, kept)), rows=rows)


def known_of_pretrained(labels: Iterable[str]) -> list[str]:
    """Return what must be known of the pretrained models among some rows."""
    known = list(labels)
    return [
        note for name, note in paper.PAPER.pretrained.items() if any(name in one for one in known)
    ]


def is_papers(result: Result) -> bool:
    """Say whether a result is on the paper's data: by origin, or by name, size and genres."""
    name = data_name(result.name)
    if result.task == "response_ranking":
        is_reddit = result.data.get("origin") == REDDIT
        return is_reddit and candidates(result) == paper.PAPER.candidates
    if is_synthetic(result) or result.n != paper.SIZES.get(name):
        return False
    genres = {genre: of["n"] for genre, of in result.groups.items()}
    return name not in paper.OFFICIAL_COUNTS or not genres or genres == paper.OFFICIAL_COUNTS[name]


def is_synthetic(result: Result) -> bool:
    """Say whether a result is on generated data."""
    return result.data.get("origin") == SYNTHETIC


def candidates(result: Result) -> int:
    """Return how many responses were ranked for each input."""
    return int(result.settings.get("candidates", paper.PAPER.candidates))


def table_5(systems: Sequence[System]) -> Table | None:
    """Return the scores of the paper's own examples, which are in STS-B's test set."""
    scores = {one.label: _by_texts(one.named("sts-test")) for one in systems if one.kind == OURS}
    rows = []
    for example in paper.PAPER.examples:
        texts = (example.sentence1, example.sentence2)
        found = [of.get(tuple(map(overlap.normalize, texts)), []) for of in scores.values()]
        if any(found):
            cells = [Cell(example.gold, decimals=1), Cell(example.score, decimals=2)]
            name = f"{example.kind}: {' / '.join(texts)}"
            rows.append(Row(name, [*cells, *map(mean, found)], OURS))
    title = "Table 5: the paper's examples, scored by -arccos(cosine)"
    headers = ["gold score", "the paper", *scores]
    return without_empty_columns(Table("table_5", title, headers, rows)) if rows else None


def _by_texts(results: Sequence[Result]) -> dict[tuple[str, ...], list[float]]:
    """Return the score of each run by the pair's normalized texts."""
    found: dict[tuple[str, ...], list[float]] = {}
    for result in results:
        for item in result.items:
            texts = tuple(overlap.normalize(item[key]) for key in ("sentence1", "sentence2"))
            found.setdefault(texts, []).append(item["score"])
    return found


def contamination(results: Iterable[Result]) -> Table | None:
    """Return how many items of each evaluation set are in the training data, and the scores.

    `results` are those of the command `contamination`; without any there is no table.
    """
    rows = []
    for one in results:
        key = main_metric(one.metrics)
        counts = [one.n, one.counts["pairs_in_training"], one.counts["texts_in_training"]]
        cells = [Cell(count, decimals=0) for count in counts]
        of = Scored("", "", [one])
        cells += [of.cell(key, group=group) if key else Cell() for group in (ALL, *WITHOUT)]
        name = one.name.removeprefix("contamination-")
        rows.append(Row(f"{name}, {label(key)}" if key else name, cells, OURS))
    headers = ["items", "pairs in training", "texts in training", "score of all", *WITHOUT]
    title = "Evaluation items in the training data"
    return Table("contamination", title, headers, rows) if rows else None


def mistakes(result: Result) -> Table:
    """Return the errors of a result of `mistakes` by kind of text."""
    one, keys = Scored("", "", [result]), list(result.metrics)
    rows = [
        Row(group, [Cell(n, decimals=0), *(one.cell(key, group=group) for key in keys)], OURS)
        for group, n in [(ALL, result.n), *((name, of["n"]) for name, of in result.groups.items())]
    ]
    return Table(result.name, result.name.removeprefix("mistakes-"), ["n", *map(label, keys)], rows)


def regressors(results: Iterable[Result]) -> Table | None:
    """Return table 2 of Prijatelj et al. 2017: regressors trained on pairs, by corpus and folds.

    `results` are those that `python -m model.sts_regression run` writes; a figure is a mean over
    folds, with its interval.
    """
    found = list(results)
    keys = list(dict.fromkeys(key for one in found for key in one.metrics if "pearson" in key))
    papers, rows = paper.PAPER.regressors, []
    order = [*papers]
    for result in found:
        settings = result.settings
        group = result.name.removeprefix("sts_regression-").removesuffix(f"-{settings['row']}")
        cells = [Cell(result.metrics.get(key), result.intervals.get(key)) for key in keys]
        kind = OURS if result.system == "module" else BASELINE
        rows.append(Row(str(settings["label"]), cells, kind, group))
    rows.sort(
        key=lambda row: (row.group, order.index(row.label) if row.label in order else len(order))
    )
    for name, (out, within) in papers.items() if any("sts2016" in r.group for r in rows) else ():
        known = {"pearson": out, "pearson_in_sample": within}
        rows.append(
            Row(name, [Cell(known.get(key)) for key in keys], PAPER, "sts2016, in the paper")
        )
    headers = [key.removeprefix("pearson_").replace("_", " ") for key in keys]
    title = "Regressors (Prijatelj et al. 2017, table 2): Pearson's r"
    return Table("regressors", title, headers, rows) if rows else None

"""RESULTS.md: the verdict, the main figures and the paper's tables with our best rows; CSV beside.

Every row of every table is in `results/TABLE.csv` beside the page. All of it has numbers only: the
texts behind them are other people's.
"""

import datetime
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from common.errors import InputError, reading
from common.files import write_text
from evaluation.report import comparison, figures, growth, tables
from evaluation.report.html_page import environment
from evaluation.report.paper import Main
from evaluation.report.systems import System, left_out, read_runs, row_label
from evaluation.report.systems import shares as shares_of
from evaluation.report.table import NONE, OURS, PAPER, Row, Table, as_csv, markdown, pipes
from evaluation.results import store
from evaluation.results.result import VARIANTS

SEARCH_ENGINE = "search engine"
SHOWN = ("table_3", "table_4", "table_1", "table_6", "table_2")
"""Tables of the page; the others are CSV files alone."""


def write(
    results: Path,
    output: Path,
    *,
    pairs: Sequence[Path],
    runs: Sequence[str] = (),
    models: Path | None = None,
    contamination: Path | None = None,
    mistakes: Path | None = None,
    outside: Mapping[str, str] | None = None,
    about: str = "",
) -> None:
    """Write the page, its figure and its CSV files.

    Args:
      results: with `runs`, as `systems.read_runs` takes them.
      output: the page; the other files are beside it.
      pairs: folders of the training pairs, as the pipeline wrote them.
      runs: folders in `results` to read.
      models: folders NAME-SEED of models, for `chosen.json`.
      contamination: what this command wrote.
      mistakes: what this command wrote.
      outside: by a row's name, what it has from outside the training data.
      about: what made the results, and on what machine.

    Raises:
      InputError: if a folder is not what it must be.
    """
    if output.suffix != ".md":
        raise InputError(f"--output is {output}; the name of a Markdown file is accepted")
    of_files = training_pairs(pairs)
    read = read_runs(results, runs)
    systems, by_share = shares_of(read, growth.GROWTH)
    systems, by_nli = shares_of(systems, growth.NLI)
    of_rows = {row_label(name): what for name, what in (outside or {}).items()}
    trained = [system.label for system in systems if system.kind == OURS]
    if unknown := of_rows.keys() - set(trained):
        raise InputError(f"--outside: no row {min(unknown)}; there are {', '.join(trained)}")
    made: list[Table | None] = [*tables.of_paper(systems), comparison.differences(systems)]
    made.append(tables.table_5(systems))
    if by_share:
        made.append(growth.table(by_share, of_files, models))
    if contamination:
        made.append(tables.contamination(store.read_results(contamination)))
    if mistakes:
        made += map(tables.mistakes, store.read_results(mistakes))
    figure_8 = growth.figure_8(by_nli) if by_nli else None
    found = [table for table in (*made, figure_8) if table]
    files = {output.parent / "results" / f"{one.file}.csv": as_csv(one) for one in found}
    picture = output.with_name(f"{output.stem}-figure8.svg")
    if figure_8:
        files[picture] = figures.nli_shares(figure_8)
    days = _days([*(results / run for run in runs)] or [*results.glob("*")])
    files[output] = page(
        systems,
        found,
        of_rows,
        about=f"{about}, {days}",
        pairs=sum(of_files),
        left_out=left_out(read),
        figure=picture.name if figure_8 else "",
    )
    for path, text in files.items():
        write_text(path, text)


def page(
    systems: Sequence[System], found: Sequence[Table], outside: Mapping[str, str], **said: object
) -> str:
    """Return the page of these tables; `said` are further names of its template."""
    best = comparison.best_rows(systems, outside)
    main = comparison.main_figures(systems)
    first = next(iter(best.values()), None)
    standings: dict[str, list[str]] = {standing: [] for standing in comparison.STANDINGS}
    for one in main:
        beside = comparison.compared(systems, first, one) if first else None
        if beside and beside.standing:
            standings[beside.standing].append(one.label)
    baselines = {
        (one, is_pretrained): comparison.best_baseline(systems, one, pretrained=is_pretrained)
        for one in main
        for is_pretrained in (False, True)
    }
    labels = {row.label for row in (*best.values(), *baselines.values()) if row} | {SEARCH_ENGINE}
    shown = [best_of(table, labels) for table in found if table.file in SHOWN]
    seeds = (f"{one.label} {', '.join(map(str, one.seeds))}" for one in systems if one.seeds)
    templates = environment()
    templates.filters["markdown"] = markdown
    return templates.get_template("results.md.jinja").render(
        best=best,
        first=first.label if first else "",
        standings={standing: of for standing, of in standings.items() if of},
        main=main_table(main, best, baselines),
        notes=tables.known_of_pretrained(labels),
        seeds="; ".join(seeds),
        tables=found,
        shown=shown,
        **said,
    )


def main_table(main: Sequence[Main], best: Mapping[str, System], baselines: Mapping) -> str:
    """Return the main figures: a line each, our best rows beside the baselines and the paper."""
    headers = ["", "n", *(f"{row.label}" for row in best.values())]
    headers += ["best simple baseline", "pretrained", "paper, Reddit", "paper, Reddit+NLI"]
    body = []
    for one in main:
        ours = [comparison.row_of(system, one) for system in best.values()]
        beside = [baselines[one, is_pretrained] for is_pretrained in (False, True)]
        n = next((row.results[0].n for row in (*ours, *beside) if row), 0)
        cells = [row.cell(one.metric).whole_text if row else NONE for row in ours]
        cells += [f"{b.cell(one.metric).whole_text}, {b.label}" if b else NONE for b in beside]
        cells += [cell.whole_text for cell in comparison.papers(one)]
        body.append([one.label, f"{n:,}", *cells])
    return pipes(body, headers)


def best_of(table: Table, labels: set[str]) -> Table:
    """Return a table with the rows of these labels, our variants of them and the paper's alone."""

    def is_shown(row: Row) -> bool:
        variants = {row.label.removesuffix(end) for end in VARIANTS.values()}
        named = row.kind == OURS and not variants.isdisjoint(labels)
        return named or row.kind == PAPER or row.label in labels

    return tables.without_empty_columns(replace(table, rows=[*filter(is_shown, table.rows)]))


def training_pairs(folders: Sequence[Path]) -> list[int]:
    """Return how many training pairs the files of one number hold in all folders together.

    Raises:
      InputError: if a folder has no manifest of training files, or fewer of them than another.
    """
    found: list[list[int]] = []
    for manifest in (folder / "COMPLETED" for folder in folders):
        with reading(manifest):
            outputs = json.loads(manifest.read_text(encoding="utf-8"))["outputs"]
            files = sorted(name for name in outputs if name.startswith("train-"))
            found.append([int(outputs[name]["records"]) for name in files])
        if not sum(found[-1]) or len(found[-1]) != len(found[0]):
            raise InputError(
                f"{manifest}: {sum(found[-1])} records in {len(found[-1])} files train-*; "
                f"accepted: {len(found[0])} files with records"
            )
    return [sum(of_all) for of_all in zip(*found, strict=True)]


def _days(folders: Sequence[Path]) -> str:
    """Return the day on which the results were written, or the first and the last of them."""
    times = [path.stat().st_mtime for folder in folders for path in folder.glob("*.json")]
    days = [f"{datetime.date.fromtimestamp(time):%-d %B %Y}" for time in (min(times), max(times))]
    return " to ".join(dict.fromkeys(days))

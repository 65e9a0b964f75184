"""The pages: a report of one module, RESULTS.md of all rows, mistakes.md; with tables as data."""

import base64
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import jinja2

from common.errors import InputError, reading
from common.files import write_text
from evaluation.data.origin import SYNTHETIC
from evaluation.report import comparison, figures, scores, tables
from evaluation.report.scores import OURS, PAPER
from evaluation.report.tables import as_csv, markdown, pipes
from evaluation.results import store
from evaluation.results.result import VARIANTS, Result
from evaluation.results.text import figure

FIELDS = (
    *("task", "name", "n", "metrics", "intervals", "groups", "counts", "settings", "notes"),
    *("data", "module", "versions", "command", "seconds"),
)
"""What the JSON file has of each result: all but the items."""
SHOWN = ("table_3", "table_4", "table_1", "table_6", "table_2")
"""Tables of RESULTS.md; the others are CSV files alone."""
SEARCH_ENGINE = "search engine"
SHOWN_CHARACTERS = 200


def rendered(template: str, **names: Any) -> str:
    """Return a page from its template; in HTML all texts are escaped: they are other people's."""
    templates = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        autoescape=jinja2.select_autoescape(["html.jinja"]),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters.update(markdown=markdown, quoted=_quoted, figure=figure)
    return templates.get_template(template).render(**names)


def write_report(
    results: str | Path,
    output: str | Path,
    *,
    beside: Sequence[str | Path] = (),
    say: Callable[[str], None] = lambda text: None,
) -> list[Path]:
    """Write the report of a folder of results; return the paths of the page, the .md and the .json.

    Args:
      results: a module's results, with those of `baselines` in its folder `baselines/`.
      output: the page, an .html file.
      beside: folders of other modules' results, shown as additional rows.
      say: gets the table of main scores, and what is left out.

    Raises:
      InputError: if there are no results, or `output` would replace a file of another kind.
    """
    page = Path(output)
    text, data = page.with_suffix(".md"), page.with_suffix(".json")
    if page in (text, data):
        raise InputError(f"--output is {page}; the name of an HTML file is accepted")
    store.check_replaceable(data, "report")
    if text.exists() and not data.exists():
        raise InputError(f"{text}: there already, and not written by report; it is kept")
    runs, left_out = scores.read_module(Path(results), [Path(other) for other in beside])
    name, own = runs[0].system, list(runs[0].results.values())
    table = scores.long_table(runs)
    main = comparison.main_table(table, comparison.figures_of(table, name), [name])
    overlaps = tables.contamination(one for one in own if one.task == "contamination")
    made = [main, *tables.specified(table), tables.table_5(runs), overlaps]
    made = [one for one in made if one.cells]
    sts = {one.name: one for one in own if one.task == "sts"}
    scattered = sts.get("sts-test") or next(iter(sts.values()), None)
    drawn = figures.scatter(scattered) if scattered else ""
    html = rendered(
        "report.html.jinja",
        name=name,
        runs=runs,
        results=own,
        tables=made,
        scattered=scattered,
        scatter=base64.b64encode(drawn.encode()).decode(),
        modules={one.module["fingerprint"] for one in own if one.module},
        synthetic=[one.name for one in own if one.data.get("origin") == SYNTHETIC],
        left_out=left_out,
    )
    of_runs = [
        {"system": run.system, "kind": run.kind} | {key: getattr(one, key) for key in FIELDS}
        for run in runs
        for one in run.results.values()
    ]
    content = {"tables": [*map(asdict, made)], "results": of_runs, "left_out": left_out}
    body = [
        [one.title, cell.group, cell.row, cell.kind, cell.header, cell.text, cell.interval_text]
        for one in made
        for cell in one.cells
    ]
    headers = ["table", "data", "system", "kind", "figure", "score", "95% interval"]
    write_text(page, html)
    write_text(text, pipes(body, headers) + "\n")
    write_text(data, json.dumps(content, indent=1, ensure_ascii=False) + "\n")
    finer = [replace(cell, decimals=4) if cell.decimals else cell for cell in main.cells]
    say("\n".join([markdown(replace(main, cells=finer), wide=True), *left_out]))
    return [page, text, data]


def write_rows(
    results: Path,
    output: Path,
    *,
    pairs: Sequence[Path],
    names: Sequence[str] = (),
    contamination: Path | None = None,
    mistakes: Path | None = None,
    outside: Mapping[str, str] | None = None,
    about: str = "",
) -> None:
    """Write RESULTS.md, its figure 8, and every row of every table as `results/TABLE.csv` beside.

    All of it has numbers only: the texts behind them are other people's.

    Args:
      results: folders NAME-SEED of results, and `baselines/`.
      output: the page; the other files are beside it.
      pairs: folders of the training pairs, as the pipeline wrote them.
      names: folders of `results` to read; by default all.
      contamination: what this command wrote.
      mistakes: what this command wrote.
      outside: by a row's name, what it has from outside the training data.
      about: what made the results, and on what machine.

    Raises:
      InputError: if a folder is not what it must be.
    """
    if output.suffix != ".md":
        raise InputError(f"--output is {output}; the name of a Markdown file is accepted")
    of_pairs = training_pairs(pairs)
    runs, left_out = scores.read_runs(results, names)
    ours = dict.fromkeys(run.system for run in runs if run.kind == OURS)
    of_rows = {scores.shown(name): what for name, what in (outside or {}).items()}
    if unknown := of_rows.keys() - ours.keys():
        raise InputError(f"--outside: no row {min(unknown)}; there are {', '.join(ours)}")
    table = scores.long_table(runs)
    best = comparison.best_rows(table, of_rows)
    main = comparison.main_table(table, comparison.main_figures(table), list(best.values()))
    made = [*tables.specified(table), comparison.differences(table), tables.table_5(runs)]
    if contamination:
        made.append(tables.contamination(store.read_results(contamination)))
    if mistakes:
        made += map(tables.mistakes, store.read_results(mistakes))
    made = [one for one in made if one.cells]
    shown = {*(cell.of for cell in main.cells), SEARCH_ENGINE}
    shown |= {row + end for row in best.values() for end in ("", *VARIANTS.values())}
    seeds: dict[str, list[int | None]] = {system: [] for system in ours}
    for run in runs:
        seeds.get(run.system, []).append(run.seed)
    picture = output.with_name(f"{output.stem}-figure8.svg")
    figure_8 = next((one for one in made if one.file == "figure_8"), None)
    page = rendered(
        "results.md.jinja",
        best=best,
        main=main,
        notes=tables.known_of_pretrained(shown),
        about=about,
        pairs=of_pairs,
        seeds=seeds,
        tables=made,
        shown=[
            replace(one, cells=[c for c in one.cells if c.row in shown or c.kind == PAPER])
            for one in made
            if one.file in SHOWN
        ],
        left_out=left_out,
        figure=picture.name if figure_8 else "",
    )
    files = {output.parent / "results" / f"{one.file}.csv": as_csv(one) for one in made}
    files |= {picture: figures.nli_shares(figure_8)} if figure_8 else {}
    for path, text in (files | {output: page}).items():
        write_text(path, text)


def training_pairs(folders: Sequence[Path]) -> int:
    """Return how many training pairs folders of the pipeline hold.

    Raises:
      InputError: if a folder has no manifest of training files with records.
    """
    total = 0
    for manifest in (folder / "COMPLETED" for folder in folders):
        with reading(manifest):
            outputs = json.loads(manifest.read_text(encoding="utf-8"))["outputs"]
            files = [of for name, of in outputs.items() if name.startswith("train-")]
            records = sum(int(of["records"]) for of in files)
            if not records:
                raise InputError(f"{manifest}: no records in files train-*")
            total += records
    return total


def mistakes_page(results: Sequence[Result]) -> str:
    """Return mistakes.md: errors of a module by kind of text, and the worst items' texts."""
    parts = [(result.name, tables.mistakes(result), result.items) for result in results]
    return rendered("mistakes.md.jinja", parts=parts)


def _quoted(value: str | float) -> str:
    """Return a number, or the beginning of other people's text without Markdown and HTML."""
    if not isinstance(value, str):
        return f"{round(value, 2)}"
    text = " ".join(value.split())
    short = text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}..."
    return re.sub(r"([\\`*_\[\]<>&|~])", r"\\\1", short)

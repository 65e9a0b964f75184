"""The pages: a report of one module, RESULTS.md of all rows, mistakes.md; with tables as data."""

import base64
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import jinja2

from common import sts as sts_files
from common.errors import InputError, reading
from common.files import claim, write_text
from common.text_files import Source
from evaluation.analysis import mistakes as analysis
from evaluation.data import ranking_files
from evaluation.data.origin import SYNTHETIC
from evaluation.options import MistakesOptions, ReportOptions, RowsOptions, command
from evaluation.report import comparison, figures, scores, tables
from evaluation.report.scores import OURS, PAPER
from evaluation.report.tables import as_csv, markdown
from evaluation.results import store
from evaluation.results.result import VARIANTS, Result
from evaluation.results.store import Evaluation, Store
from evaluation.results.text import figure
from evaluation.tasks import sts

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


def report(options: ReportOptions) -> None:
    """Write the report; print the main scores beside the baselines."""
    with claim(options.output.parent, name=f".{options.output.stem}.claim"):
        write_report(options.results, options.output, beside=options.beside, say=print)
    print(f"-> {options.output}")


def write_report(
    results: str | Path,
    output: str | Path,
    *,
    beside: Sequence[str | Path] = (),
    say: Callable[[str], None] = lambda text: None,
) -> Path:
    """Write the report of a folder of results, one HTML page; return its path.

    Args:
      results: a module's results, with those of `baselines` in its folder `baselines/`.
      output: the page, an .html file.
      beside: folders of other modules' results, shown as additional rows.
      say: gets the table of main scores, and what is left out.

    Raises:
      InputError: if there are no results, or `output` is no .html file.
    """
    page = Path(output)
    if page.suffix != ".html":
        raise InputError(f"--output is {page}; the name of an .html file is accepted")
    runs, left_out = scores.read_module(Path(results), [Path(other) for other in beside])
    name, own = runs[0].system, list(runs[0].results.values())
    table = scores.long_table(runs)
    main = comparison.main_table(table, comparison.figures_of(table, name), [name])
    overlaps = tables.contamination(one for one in own if one.task == "contamination")
    made = [main, *tables.specified(table), tables.table_5(runs), overlaps]
    sts = {one.name: one for one in own if one.task == "sts"}
    scattered = sts.get("sts-test") or next(iter(sts.values()), None)
    drawn = figures.scatter(scattered) if scattered else ""
    html = rendered(
        "report.html.jinja",
        name=name,
        runs=runs,
        results=own,
        tables=[one for one in made if one.cells],
        scattered=scattered,
        scatter=base64.b64encode(drawn.encode()).decode(),
        modules={one.module["fingerprint"] for one in own if one.module},
        synthetic=[one.name for one in own if one.data.get("origin") == SYNTHETIC],
        left_out=left_out,
    )
    write_text(page, html)
    finer = [replace(cell, decimals=4) if cell.decimals else cell for cell in main.cells]
    say("\n".join([markdown(replace(main, cells=finer), wide=True), *left_out]))
    return page


def rows(options: RowsOptions) -> None:
    """Write RESULTS.md, its figure 8, and every row of every table as `results/TABLE.csv` beside.

    All of it has numbers only: the texts behind them are other people's.

    Raises:
      InputError: if a folder is not what it must be.
    """
    if options.output.suffix != ".md":
        raise InputError(f"--output is {options.output}; the name of a Markdown file is accepted")
    with claim(options.output.parent, name=f".{options.output.stem}.claim"):
        for path, text in _files_of_rows(options).items():
            write_text(path, text)
    print(f"-> {options.output}")


def _files_of_rows(options: RowsOptions) -> dict[Path, str]:
    """Return the text of each file of `rows`, by its path; the page is the last."""
    of_pairs = training_pairs(options.pairs)
    runs, left_out = scores.read_runs(options.results, options.runs)
    seeds: dict[str, list[int | None]] = {}
    for run in runs:
        if run.kind == OURS:
            seeds.setdefault(run.system, []).append(run.seed)
    outside = (given.split("=", 1) for given in options.outside)
    of_rows = {scores.shown(name): what for name, what in outside}
    if unknown := of_rows.keys() - seeds.keys():
        raise InputError(f"--outside: no row {min(unknown)}; there are {', '.join(seeds)}")
    table = scores.long_table(runs)
    best = comparison.best_rows(table, of_rows)
    main = comparison.main_table(table, comparison.main_figures(table), list(best.values()))
    made = [*tables.specified(table), comparison.differences(table), tables.table_5(runs)]
    leaks, mistaken = (options.results.parent / name for name in ("leaks", "mistakes"))
    if leaks.is_dir():
        made.append(tables.contamination(store.read_results(leaks)))
    if mistaken.is_dir():
        made += map(tables.mistakes, store.read_results(mistaken))
    made = [one for one in made if one.cells]
    shown = {*(cell.of for cell in main.cells), SEARCH_ENGINE}
    shown |= {row + end for row in best.values() for end in ("", *VARIANTS.values())}
    picture = options.output.with_name(f"{options.output.stem}-figure8.svg")
    figure_8 = next((one for one in made if one.file == "figure_8"), None)
    page = rendered(
        "results.md.jinja",
        best=best,
        main=main,
        notes=tables.known_of_pretrained(shown),
        about=options.about,
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
    files = {options.output.parent / "results" / f"{one.file}.csv": as_csv(one) for one in made}
    files |= {picture: figures.nli_shares(figure_8)} if figure_8 else {}
    return files | {options.output: page}


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


def mistakes(options: MistakesOptions) -> None:
    """Compute a module's errors; write and print them, with the worst items' texts."""
    similar = sts_files.sources(options.sts) if options.sts else []
    ranked = ranking_files.find(options.response_ranking) if options.response_ranking else []
    pairs = {source: sts_files.read(source) for source in similar}
    conversations = {source: ranking_files.read(source) for source in ranked}
    for data in conversations.values():
        ranking_files.blocks(len(data.pairs), options.candidates)  # before the slow load
    from evaluation.encoders.saved_model import load_encoder

    encoder, seed = load_encoder(options.module), options.seed

    def compute(source: Source) -> Result:
        if source in pairs:
            return analysis.of_sts(sts.evaluate(encoder, pairs[source]), seed=seed)
        data = conversations[source]
        return analysis.of_ranking(encoder, data, seed=seed, candidates=options.candidates)

    module = encoder.provenance()
    evaluations = [
        Evaluation(source=one, compute=partial(compute, one), module=module, resampled=False)
        for one in (*similar, *ranked)
    ]
    said, path = command(options, "mistakes"), options.output / "mistakes.md"
    results = Store(output=options.output, command=said, again=True).results(evaluations)
    write_text(path, mistakes_page(results))
    print(f"-> {path}")


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

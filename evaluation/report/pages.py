"""The pages: a report of one module, and RESULTS.md of all rows with its tables as data."""

import base64
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import jinja2

from common.errors import InputError, reading
from common.files import write_text
from common.text_files import as_markdown, as_markdown_code
from evaluation.analysis import verdict
from evaluation.data.origin import SYNTHETIC
from evaluation.options import ReportOptions, RowsOptions
from evaluation.report import comparison, figures, scores, tables
from evaluation.report.scores import PAPER
from evaluation.results import runs as run_folders
from evaluation.results import store
from evaluation.results.result import VARIANTS
from evaluation.results.text import figure, module_name

SETS = "sts_sets"  # with the baselines, too
SHOWN = (SETS, "table_3", "table_1")
"""Tables of RESULTS.md below the main ones; the others are CSV files alone."""
TITLE = "Main scores, beside baselines on the same items"
TITLE_ELSEWHERE = "Trained on Reddit, scored elsewhere"
TEMPLATES = jinja2.Environment(
    loader=jinja2.FileSystemLoader(Path(__file__).parent),
    autoescape=jinja2.select_autoescape(["html.jinja"]),  # texts are other people's
    undefined=jinja2.StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
TEMPLATES.filters |= {"markdown": as_markdown, "code": as_markdown_code}


def report(options: ReportOptions) -> None:
    """Write the report; print the main scores beside the baselines."""
    page = write_report(options.results, options.output, beside=options.beside, say=print)
    print(f"-> {page}")


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
      say: gets the table of main scores, what is left out, and which system to use.
    """
    page = Path(output)
    if page.suffix != ".html":
        raise InputError(f"--output is {page}; the name of an .html file is accepted")
    runs, left_out = run_folders.read_module(Path(results), [Path(other) for other in beside])
    row, own = runs[0].system, list(runs[0].results.values())
    name = next((module_name(one) for one in own if one.module), row)
    table = scores.long_table(runs)
    main = comparison.main_table(table, comparison.figures_of(table, row), [row], title=TITLE)
    overlaps = tables.contamination([one for one in own if one.task == "contamination"])
    made = [main, *tables.specified(table), tables.table_5(runs), overlaps]
    sts = {one.name: one for one in own if one.task == "sts"}
    scattered = sts.get("sts-test") or next(iter(sts.values()), None)
    ranked = next((one for one in own if one.task == "response_ranking" and one.items), None)
    every = {run.system: run.results.get(ranked.name) for run in runs} if ranked else {}
    drawn = {
        "scatter": figures.scatter(scattered) if scattered else "",
        "ranks": figures.rank_curve({k: one for k, one in every.items() if one}) if ranked else "",
    }
    said = verdict.sentence(verdict.verdicts(runs))
    html = TEMPLATES.get_template("report.html.jinja").render(
        name=name,
        verdict=said,
        runs=runs,
        results=own,
        tables=[one for one in made if one.cells],
        scattered=scattered,
        ranked=ranked,
        **{name: base64.b64encode(text.encode()).decode() for name, text in drawn.items()},
        synthetic=[one.name for one in own if one.data.get("origin") == SYNTHETIC],
        left_out=left_out,
        figure=figure,
    )
    write_text(page, html)
    shown = replace(main, decimals=4).markdown(wide=True)
    say("\n".join(filter(None, [shown, *left_out, said])))
    return page


def rows(options: RowsOptions) -> None:
    """Write RESULTS.md, its figure 8, and every row of every table as `results/TABLE.csv` beside.

    All of it has numbers only: the texts behind them are other people's. The page is the last.
    """
    output = options.output
    if output.suffix != ".md":
        raise InputError(f"--output is {output}; the name of a Markdown file is accepted")
    pairs = 0
    for manifest in (folder / "COMPLETED" for folder in options.pairs):
        with reading(manifest):
            files = json.loads(manifest.read_bytes())["outputs"].items()
            found = [int(of["records"]) for name, of in files if name.startswith("train-")]
            if not any(found):
                raise ValueError("no records in files train-*")
            pairs += sum(found)
    runs, left_out = run_folders.read_runs(options.results, options.runs)
    seeds: dict[str, list[int | None]] = {}
    for run in runs:
        if run.kind == run_folders.OURS:
            seeds.setdefault(run.system, []).append(run.seed)
    outside = (given.split("=", 1) for given in options.outside)
    of_rows = {run_folders.shown(name): what for name, what in outside}
    published = [run_folders.shown(name) for name in options.published]
    for option, named in (("outside", of_rows), ("published", published)):
        if unknown := {*named} - seeds.keys():
            raise InputError(f"--{option}: no row {min(unknown)}; there are {', '.join(seeds)}")
    table = scores.long_table(runs)
    best = comparison.best_rows(table, of_rows)
    ours = list(dict.fromkeys([*best.values(), *published]))
    main, elsewhere = (comparison.main_figures(table, of) for of in (tables.MAIN, tables.ELSEWHERE))
    leading = [
        comparison.main_table(table, figures, ours, title=title)
        for title, figures in {TITLE: main, TITLE_ELSEWHERE: elsewhere}.items()
    ]
    differing = comparison.differences(table, main | elsewhere)
    made = [*tables.specified(table), differing, tables.table_5(runs)]
    leaks, mistaken = (options.results.parent / name for name in ("leaks", "mistakes"))
    if leaks.is_dir():
        made.append(tables.contamination(store.read_results(leaks)))
    if mistaken.is_dir():
        made += map(tables.mistakes, store.read_results(mistaken))
    csv_files = {one.file: one for one in made if one.cells}
    of_ours = {row + end for row in ours for end in ("", *VARIANTS.values())}
    beside = {cell.of or cell.header for one in leading for cell in one.cells}
    names = dict.fromkeys(SHOWN, of_ours) | {SETS: {*ours, *beside}}
    figure_8 = csv_files.get("figure_8")
    picture = output.with_name(f"{output.stem}-figure8.svg")
    page = TEMPLATES.get_template("results.md.jinja").render(
        best=best,
        outside=of_rows,
        leading=[one.turned() for one in leading if ours and one.cells],
        standings=(standings := comparison.standings(differing, main | elsewhere, ours)),
        standing_in=dict.fromkeys(
            name for others in standings.values() for of in others.values() for name in of
        ),
        OTHERS=comparison.OTHERS,
        static=sorted({score.system for score in table if score.pretrained and score.static}),
        about=options.about,
        pairs=pairs,
        seeds=seeds,
        files=csv_files,
        shown=[
            replace(
                one, cells=[c for c in one.cells if c.row in names[one.file] or c.kind == PAPER]
            )
            for one in map(csv_files.get, SHOWN)
            if one
        ],
        left_out=left_out,
        figure=picture.name if figure_8 else "",
    )
    folder = output.parent / "results"
    files = {folder / f"{name}.csv": one.csv() for name, one in csv_files.items()}
    files |= {picture: figures.nli_shares(figure_8)} if figure_8 else {}
    for path, text in (files | {output: page}).items():
        write_text(path, text)
    print(f"-> {output}")

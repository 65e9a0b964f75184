"""The pages: a report of one module, and RESULTS.md of all rows with its tables as data."""

import base64
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import jinja2
import yaml

from common.errors import InputError
from common.files import COMPLETED, outputs, write_text
from common.origin import GENERATED
from common.text_files import as_markdown, as_markdown_code
from evaluation.options import ReportOptions, RowsOptions
from evaluation.report import comparison, figures, scores, tables
from evaluation.report.scores import OURS, PAPER, Run
from evaluation.report.tables import Table
from evaluation.results import store
from evaluation.results.result import VARIANTS, figure, module_name

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
TEMPLATES.filters["yaml"] = partial(yaml.safe_dump, sort_keys=False, allow_unicode=True, width=1000)


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
    page = _page(output, ".html")
    runs, left_out = scores.read_module(Path(results), [Path(other) for other in beside])
    row, own = runs[0].system, list(runs[0].results.values())
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
    said = comparison.verdict(table, row)
    html = TEMPLATES.get_template("report.html.jinja").render(
        name=next((module_name(one) for one in own if one.module), row),
        verdict=said,
        runs=runs,
        results=own,
        tables=[one for one in made if one.cells],
        scattered=scattered,
        ranked=ranked,
        **{name: base64.b64encode(text.encode()).decode() for name, text in drawn.items()},
        synthetic=[one.name for one in own if one.data.get("origin") == GENERATED],
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
    page = _page(options.output, ".md")
    pairs = sum(map(_training_pairs, options.pairs))
    runs, left_out = scores.read_runs(options.results, options.runs)
    seeds: dict[str, list[int | None]] = {}
    for run in runs:
        if run.kind == OURS:
            seeds.setdefault(run.system, []).append(run.seed)
    if wrong := [given for given in options.outside if not all(given.partition("="))]:
        raise InputError(f"--outside: {wrong[0]}; accepted: NAME=WHAT")
    given = (one.split("=", 1) for one in options.outside)
    outside = {scores.shown(name): what for name, what in given}
    published = [scores.shown(name) for name in options.published]
    for option, named in (("outside", outside), ("published", published)):
        if unknown := {*named} - seeds.keys():
            raise InputError(f"--{option}: no row {min(unknown)}; there are {', '.join(seeds)}")
    compared = _compared(runs, outside, published, beside=options.results.parent)
    by_file: dict[str, Table] = compared["files"]
    files = {page.parent / "results" / f"{name}.csv": one.csv() for name, one in by_file.items()}
    picture = page.with_name(f"{page.stem}-figure8.svg")
    if "figure_8" in by_file:
        files[picture] = figures.nli_shares(by_file["figure_8"])
    files[page] = TEMPLATES.get_template("results.md.jinja").render(
        **compared,
        about=options.about,
        pairs=pairs,
        seeds=seeds,
        left_out=left_out,
        figure=picture.name if picture in files else "",
    )
    for path, text in files.items():
        write_text(path, text)
    print(f"-> {page}")


def _page(output: str | Path, suffix: str) -> Path:
    if Path(output).suffix != suffix:
        raise InputError(f"--output is {output}; accepted: a name that ends in {suffix}")
    return Path(output)


def _training_pairs(folder: Path) -> int:
    """Return how many training pairs the pipeline's manifest counts in a folder."""
    files = outputs(str(folder)).items()
    count = sum(int(of["records"]) for name, of in files if name.startswith("train-"))
    if not count:
        raise InputError(f"{folder / COMPLETED}: no records in files train-*")
    return count


def _compared(
    runs: Sequence[Run], outside: Mapping[str, str], published: Sequence[str], *, beside: Path
) -> dict[str, Any]:
    """Return the page's values: rows chosen and compared, every table by its file, those shown."""
    table = scores.long_table(runs)
    best = comparison.best_rows(table, outside)
    ours = list(dict.fromkeys([*best.values(), *published]))
    main, elsewhere = (comparison.main_figures(table, of) for of in (tables.MAIN, tables.ELSEWHERE))
    leading = [
        comparison.main_table(table, of, ours, title=title)
        for title, of in {TITLE: main, TITLE_ELSEWHERE: elsewhere}.items()
    ]
    differing = comparison.differences(table, main | elsewhere)
    made = [*tables.specified(table), differing, tables.table_5(runs)]
    if (beside / "leaks").is_dir():
        made.append(tables.contamination(store.read_results(beside / "leaks")))
    if (beside / "mistakes").is_dir():
        made += map(tables.mistakes, store.read_results(beside / "mistakes"))
    files = {one.file: one for one in made if one.cells}
    of_ours = {row + end for row in ours for end in ("", *VARIANTS.values())}
    led = {cell.of or cell.header for one in leading for cell in one.cells}
    rows_of = dict.fromkeys(SHOWN, of_ours) | {SETS: {*ours, *led}}
    standings = comparison.standings(differing, main | elsewhere, ours)
    return {
        "best": best,
        "outside": outside,
        "leading": [one.turned() for one in leading if one.cells],
        "standings": standings,
        "standing_in": dict.fromkeys(
            name for others in standings.values() for of in others.values() for name in of
        ),
        "OTHERS": comparison.OTHERS,
        "static": sorted(
            {score.system for score in table if score.was("pretrained") and score.was("static")}
        ),
        "files": files,
        "shown": [
            replace(one, cells=[c for c in one.cells if c.row in rows_of[name] or c.kind == PAPER])
            for name in SHOWN
            if (one := files.get(name))
        ],
    }

"""The report, made of nothing but the result files: an HTML page, a Markdown table, a JSON file."""

import dataclasses
import json
from collections.abc import Sequence
from dataclasses import asdict
from functools import cache
from pathlib import Path

import jinja2
import numpy as np
from tabulate import tabulate

from common.errors import InputError
from common.files import write_text
from evaluation.metrics import correlation
from evaluation.report import (
    diagnostics,
    paper,
    paper_tables,
    pictures,
    regressors,
    retrieval,
    svg,
    verdict,
)
from evaluation.report.cells import PAPER, Table
from evaluation.report.systems import System, left_out, read_module
from evaluation.results.result import Result
from evaluation.results.store import check_replaceable
from evaluation.results.text import figure

TEMPLATE = Path(__file__).with_name("report.html.jinja")
FIELDS = (
    *("task", "name", "n", "metrics", "intervals", "groups", "counts", "settings", "notes"),
    *("data", "module", "versions", "command", "seconds"),
)
"""What the JSON file has of each result: all but the items."""


def check_output(path: Path) -> None:
    """Raise InputError where `write` would replace a file that is neither a report nor the page."""
    if path.suffix in (".md", ".json"):
        raise InputError(f"--output is {path}; the name of an HTML file is accepted")
    check_replaceable(path.with_suffix(".json"), "report")
    table = path.with_suffix(".md")
    if table.exists() and table.stat().st_size:
        with table.open("rb") as file:
            if not file.readline().startswith(b"| table "):
                raise InputError(f"{table}: there already, and not written by report; it is kept")


# From which share of the range of gold scores on, and up to which, a pair is clear.
ALIKE, UNLIKE = 0.8, 0.2
EXAMPLES = 3  # of each kind


def write_report(
    results: str | Path, output: str | Path, *, beside: Sequence[str | Path] = ()
) -> list[Path]:
    """Write the report of a folder of results; return the paths of the page, the .md and the .json.

    Args:
      results: a module's results, with those of `baselines` in its folder `baselines/`.
      output: the page, an .html file.
      beside: folders of other modules' results, shown as additional rows.

    Raises:
      InputError: if there are no results, or `output` would replace a file of another kind.
    """
    check_output(Path(output))
    systems = read_module(Path(results), [Path(other) for other in beside])
    return write(systems, Path(output))


def write(systems: Sequence[System], path: Path) -> list[Path]:
    """Write the page, and beside it the same as .md and .json; return the three paths."""
    made = all_tables(systems)
    files = {
        path: render(systems, made),
        path.with_suffix(".md"): markdown(made),
        path.with_suffix(".json"): as_json(systems, made),
    }
    for file, content in files.items():
        write_text(file, content)
    return list(files)


def all_tables(systems: Sequence[System]) -> list[Table]:
    """Return every table that there is something for."""
    overlaps = (r for r in systems[0].results() if r.task == "contamination")
    made = [
        *paper_tables.tables(systems),
        retrieval.table(systems),
        *_regressors(systems),
        diagnostics.contamination(overlaps),
    ]
    return [table for table in made if table is not None]


def _regressors(systems: Sequence[System]) -> list[Table]:
    """Return the tables of regressors, those of each system for itself: folds may differ."""
    found = {one.label: [r for r in one.results() if r.task == regressors.TASK] for one in systems}
    some = {name: results for name, results in found.items() if results}
    return [
        table
        for name, results in some.items()
        for table in regressors.tables(results, of=name if len(some) > 1 else "")
    ]


def render(systems: Sequence[System], made: Sequence[Table]) -> str:
    """Return the page, with these tables. All texts are escaped: they are other people's."""
    results = list(systems[0].results())
    shown = _shown(results)
    sweep = next((result for result in results if result.task == "snli_sweep"), None)
    drawn = {
        "bars": pictures.genre_bars(systems, shown.name) if shown and _genres(shown) else None,
        "scatter": pictures.scatter(shown) if shown else None,
        "curves": pictures.nli_share(sweep.items) if sweep and sweep.items else None,
    }
    tiles = verdict.tiles(systems)
    return _template().render(
        name=systems[0].label,
        verdict=verdict.sentence(systems[0].label, tiles),
        tiles=tiles,
        systems=systems,
        results=results,
        modules=sorted({result.module["fingerprint"] for result in results if result.module}),
        tables=made,
        shown=shown,
        are_angles=shown is not None and pictures.are_angles(shown),
        examples=examples(shown) if shown else [],
        papers=any(row.kind == PAPER for table in made for row in table.rows),
        papers_examples=paper.TABLE_5 if shown and paper_tables.is_papers(shown) else (),
        left_out=left_out(systems),
        synthetic=[result.name for result in results if paper_tables.is_synthetic(result)],
        sweep=sweep,
        **{name: svg.data_uri(text) if text else None for name, text in drawn.items()},
    )


@cache
def _template() -> jinja2.Template:
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["figure"] = figure
    return environment.from_string(TEMPLATE.read_text(encoding="utf-8"))


def _shown(results: list[Result]) -> Result | None:
    """Return the STS result for figure 7 and table 5: the test set if there, else another."""
    sts = {result.name: result for result in results if result.task == "sts"}
    return sts.get("sts-test") or sts.get("sts-dev") or next(iter(sts.values()), None)


def _genres(result: Result) -> bool:
    """Say whether a result has the genres of table 4."""
    return any(f"main-{genre}" in result.groups for genre in paper.GENRES)


@dataclasses.dataclass(frozen=True)
class Example:
    """A pair, its score and label, and in what way the score is good or bad."""

    verdict: str
    score: float
    gold: float
    sentence1: str
    sentence2: str


def examples(result: Result, *, each: int = EXAMPLES) -> list[Example]:
    """Return pairs in the manner of table 5: well scored ones, alike and unlike, and the worst.

    Scores and labels have different scales: a pair's error is its residual from the least-squares
    line of labels on scores.
    """
    if result.metrics["pearson"] is None or not result.items:
        return []
    score = np.array([item["score"] for item in result.items])
    gold = np.array([item["gold"] for item in result.items])
    error = correlation.line_errors(score, gold)
    share = (gold - gold.min()) / (gold.max() - gold.min())
    closest = np.argsort(np.abs(error), kind="stable")
    by_error = np.argsort(error, kind="stable")
    chosen: dict[str, Sequence[int]] = {
        "good, alike": [i for i in closest if share[i] >= ALIKE],
        "good, unlike": [i for i in closest if share[i] <= UNLIKE],
        "bad, too high": list(by_error[::-1]),
        "bad, too low": list(by_error),
    }
    keys = ("score", "gold", "sentence1", "sentence2")
    return [
        Example(verdict, *(result.items[i][key] for key in keys))
        for verdict, rows in chosen.items()
        for i in rows[:each]
    ]


def markdown(made: Sequence[Table]) -> str:
    """Return every figure of every table in one Markdown table, a row each."""
    body = [
        [table.title, row.group, row.label, row.kind, header, cell.text, cell.interval_text]
        for table in made
        for row in table.rows
        for header, cell in zip(table.headers, row.cells, strict=True)
        if cell.value is not None
    ]
    escaped = [[value.replace("|", "\\|") for value in row] for row in body]
    headers = ["table", "data", "system", "kind", "figure", "score", "95% interval"]
    aligned = ["left"] * 5 + ["right"] * 2
    return tabulate(escaped, headers, "pipe", disable_numparse=True, colalign=aligned) + "\n"


def as_json(systems: Sequence[System], made: Sequence[Table]) -> str:
    """Return tables (numbers and intervals as fractions), and where the numbers come from."""
    results = [(system, result) for system in systems for result in system.results()]
    content = {
        "tables": [asdict(table) for table in made],
        "snli_sweep": [found.items for _, found in results if found.task == "snli_sweep"],
        "results": [
            {"system": system.label, "kind": system.kind}
            | {field: getattr(result, field) for field in FIELDS}
            for system, result in results
        ],
    }
    if sentences := left_out(systems):
        content["left_out"] = sentences
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"

"""The report, made of nothing but the result files: an HTML page, a Markdown table, a JSON file."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import jinja2
from markupsafe import Markup
from tabulate import tabulate

from evaluation.analysis import examples
from evaluation.data.files import write_whole
from evaluation.errors import InputError
from evaluation.report import (
    comparison,
    figure7,
    figure8,
    genres,
    paper,
    regressors,
    scores,
    words,
)
from evaluation.report.comparison import Table
from evaluation.report.systems import System
from evaluation.results.result import Result, replaces_own

TEMPLATE = Path(__file__).with_name("report.html.jinja")


FIELDS = (
    *("task", "name", "n", "metrics", "intervals", "groups", "counts", "settings", "notes"),
    *("data", "module", "versions", "command", "seconds"),
)
"""What the JSON file has of each result: all but the items."""


def check_output(path: Path) -> None:
    """Raise InputError unless what `write` writes replaces reports alone, and the page itself."""
    if path.suffix in (".md", ".json"):
        raise InputError(f"--output is {path}; the name of an HTML file is accepted")
    replaces_own(path.with_suffix(".json"), "report")
    table = path.with_suffix(".md")
    if table.exists() and table.stat().st_size:
        with table.open("rb") as file:
            if not file.readline().startswith(b"| table "):
                raise InputError(f"{table}: there already, and not written by report; it is kept")


def write(systems: Sequence[System], path: Path) -> list[Path]:
    """Write the page, and beside it the same as .md and .json; return the three paths."""
    tables, text = _tables(systems), _text(systems)
    files = {
        path: render(systems, tables=tables, text=text),
        path.with_suffix(".md"): markdown(tables),
        path.with_suffix(".json"): as_json(systems, tables=tables, text=text),
    }
    for file, content in files.items():
        write_whole(file, content)
    return list(files)


def render(
    systems: Sequence[System], *, tables: list[Table] | None = None, text: list[str] | None = None
) -> str:
    """Return the page. Everything but our own SVG is escaped: the texts are other people's."""
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["figure"] = scores.figure
    template = environment.from_string(TEMPLATE.read_text(encoding="utf-8"))
    results = list(systems[0].results.values())
    shown = _shown(results)
    sweep = next((result for result in results if result.task == "snli_sweep"), None)
    return template.render(
        systems=systems,
        results=results,
        modules=_modules(results),
        text=_text(systems) if text is None else text,
        tables=_tables(systems) if tables is None else tables,
        contamination=[result for result in results if result.task == "contamination"],
        shown=shown,
        scatter=Markup(figure7.scatter(shown)) if shown else None,
        bars=Markup(genres.element(systems, shown.name)) if shown and _genres(shown) else None,
        examples=examples.examples(shown) if shown else [],
        papers_examples=paper.TABLE_5,
        sweep=sweep,
        curves=Markup(figure8.element(sweep)) if sweep and sweep.items else None,
    )


def _tables(systems: Sequence[System]) -> list[Table]:
    """Return every table that there is something for."""
    return [*comparison.tables(systems), *regressors.tables(systems)]


def _text(systems: Sequence[System]) -> list[str]:
    """Return the paragraphs of the tasks, then of the regressors."""
    return [*words.paragraphs(systems), *regressors.paragraphs(systems)]


def _shown(results: list[Result]) -> Result | None:
    """Return the STS result for figure 7 and table 5: the test set if there, else another."""
    sts = {result.name: result for result in results if result.task == "sts"}
    return sts.get("sts-test") or sts.get("sts-dev") or next(iter(sts.values()), None)


def _genres(result: Result) -> bool:
    """Say whether a result has the genres of table 4."""
    return any(f"main-{genre}" in result.groups for genre in paper.GENRES)


def _modules(results: list[Result]) -> list[str]:
    """Return the fingerprints of the modules scored: one, unless results were mixed."""
    return sorted({result.module["fingerprint"] for result in results if result.module})


def markdown(tables: Sequence[Table]) -> str:
    """Return every figure of every table in one Markdown table, a row each."""
    body = [
        [table.title, row.group, row.label, row.kind, header, cell.text, cell.interval_text]
        for table in tables
        for row in table.rows
        for header, cell in zip(table.headers, row.cells, strict=True)
        if cell.value is not None
    ]
    escaped = [[value.replace("|", "\\|") for value in row] for row in body]
    headers = ["table", "data", "system", "kind", "figure", "score", "95% interval"]
    aligned = ["left"] * 5 + ["right"] * 2
    return tabulate(escaped, headers, "pipe", disable_numparse=True, colalign=aligned) + "\n"


def as_json(systems: Sequence[System], *, tables: Sequence[Table], text: list[str]) -> str:
    """Return tables (figures and intervals as fractions), text, and where the figures come from."""
    provenance = [
        {"system": system.label, "kind": system.kind}
        | {field: getattr(result, field) for field in FIELDS}
        for system in systems
        for result in system.results.values()
    ]
    results = [result for system in systems for result in system.results.values()]
    content = {
        "text": text,
        "tables": [asdict(table) for table in tables],
        "snli_sweep": [found.items for found in results if found.task == "snli_sweep"],
        "results": provenance,
    }
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"

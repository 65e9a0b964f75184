"""The report, made of nothing but the result files: an HTML page, a Markdown table, a JSON file."""

import base64
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import jinja2
import numpy as np

from common.errors import InputError
from common.files import write_text
from evaluation.metrics import correlation
from evaluation.report import comparison, figures, tables
from evaluation.report.paper import PAPER, Example
from evaluation.report.systems import System, left_out, read_module
from evaluation.report.table import Table, pipes
from evaluation.results.result import Result
from evaluation.results.store import check_replaceable
from evaluation.results.text import figure

TEMPLATES = Path(__file__).parent
FIELDS = (
    *("task", "name", "n", "metrics", "intervals", "groups", "counts", "settings", "notes"),
    *("data", "module", "versions", "command", "seconds"),
)
"""What the JSON file has of each result: all but the items."""
ALIKE, UNLIKE = 0.8, 0.2
"""From which share of the range of gold scores on, and up to which, a pair is clear."""
EXAMPLES = 3
"""Of each kind."""


def check_output(path: Path) -> None:
    """Raise InputError where `write` would replace a file that is neither a report nor the page."""
    if path.suffix in (".md", ".json"):
        raise InputError(f"--output is {path}; the name of an HTML file is accepted")
    check_replaceable(path.with_suffix(".json"), "report")
    beside = path.with_suffix(".md")
    if beside.exists() and not path.with_suffix(".json").exists():
        raise InputError(f"{beside}: there already, and not written by report; it is kept")


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
        path.with_suffix(".md"): every_figure(made),
        path.with_suffix(".json"): as_json(systems, made),
    }
    for file, content in files.items():
        write_text(file, content)
    return list(files)


def all_tables(systems: Sequence[System]) -> list[Table]:
    """Return every table that there is something for."""
    results = [result for system in systems for result in system.results()]
    more = (
        tables.regressors(one for one in results if one.task == "sts_regression"),
        tables.contamination(one for one in systems[0].results() if one.task == "contamination"),
    )
    return [*tables.of_paper(systems), *(table for table in more if table)]


def environment() -> jinja2.Environment:
    """Return the environment of both templates; undefined names are errors."""
    found = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=jinja2.select_autoescape(["html.jinja"]),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters["figure"] = figure
    return found


def render(systems: Sequence[System], made: Sequence[Table]) -> str:
    """Return the page, with these tables. All texts are escaped: they are other people's."""
    results = list(systems[0].results())
    sts = {result.name: result for result in results if result.task == "sts"}
    shown = sts.get("sts-test") or sts.get("sts-dev") or next(iter(sts.values()), None)
    drawn = figures.scatter(shown) if shown else ""
    return (
        environment()
        .get_template("report.html.jinja")
        .render(
            name=systems[0].label,
            tiles=comparison.of_each_task(systems),
            standings=comparison.STANDINGS,
            systems=systems,
            results=results,
            modules=sorted({result.module["fingerprint"] for result in results if result.module}),
            tables=made,
            shown=shown,
            scatter=base64.b64encode(drawn.encode()).decode(),
            are_angles=shown is not None and figures.are_angles(shown),
            examples=examples(shown) if shown else [],
            papers_examples=PAPER.examples if shown and tables.is_papers(shown) else (),
            left_out=left_out(systems),
            synthetic=[result.name for result in results if tables.is_synthetic(result)],
        )
    )


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
    chosen = {
        "good, alike": closest[share[closest] >= ALIKE],
        "good, unlike": closest[share[closest] <= UNLIKE],
        "bad, too high": by_error[::-1],
        "bad, too low": by_error,
    }
    return [
        Example(kind, *(result.items[i][key] for key in Example.__struct_fields__[1:]))
        for kind, rows in chosen.items()
        for i in rows[:each]
    ]


def every_figure(made: Sequence[Table]) -> str:
    """Return every figure of every table in one Markdown table, a row each."""
    body = [
        [table.title, row.group, row.label, row.kind, header, cell.text, cell.interval_text]
        for table in made
        for row, header, cell in table.figures()
    ]
    headers = ["table", "data", "system", "kind", "figure", "score", "95% interval"]
    return pipes(body, headers) + "\n"


def as_json(systems: Sequence[System], made: Sequence[Table]) -> str:
    """Return tables (numbers and intervals as fractions), and where the numbers come from."""
    content = {
        "tables": [asdict(table) for table in made],
        "results": [
            {"system": system.label, "kind": system.kind}
            | {field: getattr(result, field) for field in FIELDS}
            for system in systems
            for result in system.results()
        ],
        "left_out": left_out(systems),
    }
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"

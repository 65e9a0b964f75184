"""`report`: one HTML page, one Markdown table and one JSON file from the results of the others."""

import argparse
from pathlib import Path

from evaluation.cli import options


def add(commands) -> None:
    """Add the command `report`."""
    summary = "one HTML page, one Markdown table, one JSON file from stored results"
    parser = options.command(commands, "report", run, summary=summary)
    parser.add_argument("--results", type=Path, required=True, help="folder of a module's results")
    parser.add_argument(
        "--beside",
        type=Path,
        action="extend",
        nargs="+",
        default=[],
        metavar="DIR",
        help="folders of other modules' results, shown as additional rows",
    )
    options.file_output(
        parser,
        metavar="FILE.html",
        help="the page to write; the .md and .json files are written next to it",
    )


def run(arguments: argparse.Namespace, *, command: str) -> None:
    """Write the report; print the table of all scores, and the main ones beside the baselines."""
    from evaluation.report import html_page, verdict
    from evaluation.report.systems import left_out, read_module
    from evaluation.results import store, text

    html_page.check_output(arguments.output)
    systems = read_module(arguments.results, arguments.beside)
    paths = html_page.write(systems, arguments.output)
    print(text.overview(store.read_results(arguments.results)))
    for tile in verdict.tiles(systems):
        print(verdict.line(tile))
    for sentence in left_out(systems):
        print(sentence)
    print(f"-> {', '.join(map(str, paths))}")

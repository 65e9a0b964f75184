"""`report`: all results on one page.

python -m evaluation report --results DIR --output FILE.html
"""

import argparse
from pathlib import Path


def add(commands) -> None:
    """Add the command `report`."""
    parser = commands.add_parser("report", help="one HTML page from the results of the others")
    parser.add_argument("--results", type=Path, required=True, help="folder of result files")
    parser.add_argument("--output", type=Path, required=True, help="the HTML file to write")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace, *, command: str) -> None:
    """Write the report and print the table of all scores."""
    from evaluation import report, result, scores

    results = result.read_all(arguments.results)
    report.write(results, arguments.output)
    print(f"{scores.overview(results)}\n-> {arguments.output}")

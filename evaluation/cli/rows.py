"""`rows`: the paper's tables with a row for each system that was trained, as one Markdown page."""

import argparse
from pathlib import Path

from evaluation.cli import options


def add(commands) -> None:
    """Add the command `rows`."""
    summary = "tables 1 to 6 with means over seeds, growth and mistakes, as one Markdown page"
    parser = options.command(commands, "rows", run, summary=summary)
    parser.add_argument(
        "--results",
        type=Path,
        required=True,
        help="folders NAME-SEED of results, growth_PERCENT-SEED among them, and baselines/",
    )
    parser.add_argument(
        "--runs", nargs="+", default=[], metavar="NAME-SEED", help="those to show; default: all"
    )
    parser.add_argument(
        "--pairs", type=Path, required=True, help="the training pairs, as the pipeline wrote them"
    )
    parser.add_argument("--contamination", type=Path, help="folder of `evaluation contamination`")
    parser.add_argument("--mistakes", type=Path, help="folder of `evaluation mistakes`")
    parser.add_argument(
        "--learned", type=Path, metavar="FILE.md", help="text to put at the end of the page"
    )
    parser.add_argument("--machine", default="", help="the machine, for the page's head")
    parser.add_argument("--made_by", default="", help="the command that trained and scored it all")
    parser.add_argument("--data_dir", default="", help="shown as DIR in the commands on the page")
    options.file_output(parser, metavar="FILE.md")


def run(arguments: argparse.Namespace, *, command: str) -> None:
    """Write the page."""
    from evaluation.report import markdown_page

    said = (arguments.made_by and f"`{arguments.made_by}`", arguments.machine)
    markdown_page.write(
        arguments.results,
        arguments.output,
        runs=arguments.runs,
        pairs=arguments.pairs,
        contamination=arguments.contamination,
        mistakes=arguments.mistakes,
        learned=arguments.learned,
        about=", ".join(filter(None, said)),
        data_dir=arguments.data_dir,
    )
    print(f"-> {arguments.output}")

"""`rows`: the paper's tables with a row for each system that was trained, as one Markdown page."""

import argparse
from pathlib import Path

from evaluation.cli import options

AS_GIVEN = (
    *("pairs", "models", "contamination", "mistakes"),
    *("protocol", "ablations", "learned", "data_dir"),
)


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
        "--runs",
        action="extend",
        nargs="+",
        default=[],
        metavar="NAME-SEED",
        help="those to show; default: all",
    )
    parser.add_argument(
        "--pairs",
        type=Path,
        action="extend",
        nargs="+",
        required=True,
        metavar="DIR",
        help="the training pairs, as the pipeline wrote them",
    )
    parser.add_argument(
        "--models", type=Path, help="folders NAME-SEED of models, for the rates in chosen.json"
    )
    parser.add_argument(
        "--outside",
        action="extend",
        nargs="+",
        default=[],
        metavar="NAME=WHAT",
        help="what rows have from outside the training data, such as distilled=teacher",
    )
    parser.add_argument("--contamination", type=Path, help="folder of `evaluation contamination`")
    parser.add_argument("--mistakes", type=Path, help="folder of `evaluation mistakes`")
    for name, place in (
        ("protocol", "after the first table"),
        ("ablations", "before what was learned"),
        ("learned", "at the end of the page"),
    ):
        parser.add_argument(f"--{name}", type=Path, metavar="FILE.md", help=f"text to put {place}")
    parser.add_argument("--machine", default="", help="the machine, named at the top of the page")
    parser.add_argument("--made_by", default="", help="the command that trained and scored it all")
    parser.add_argument("--data_dir", default="", help="shown as DIR in the commands on the page")
    options.file_output(parser, metavar="FILE.md")


def run(arguments: argparse.Namespace, *, command: str) -> None:
    """Write the page."""
    from evaluation.errors import InputError
    from evaluation.report import markdown_page

    if wrong := [given for given in arguments.outside if not all(given.partition("="))]:
        raise InputError(f"--outside {wrong[0]}: NAME=WHAT is accepted")
    said = (arguments.made_by and f"`{arguments.made_by}`", arguments.machine)
    contents = markdown_page.Contents(
        outside=dict(given.split("=", 1) for given in arguments.outside),
        about=", ".join(filter(None, said)),
        **{name: getattr(arguments, name) for name in AS_GIVEN},
    )
    markdown_page.write(arguments.results, arguments.output, contents, runs=arguments.runs)
    print(f"-> {arguments.output}")

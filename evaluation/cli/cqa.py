"""`cqa`: table 6.

python -m evaluation cqa --module DIR --data PATH --output DIR
"""

import argparse
from pathlib import Path

from evaluation.cli import options


def add(commands) -> None:
    """Add the command `cqa`."""
    parser = options.task(
        commands,
        "cqa",
        summary="MAP, AvgRec, MRR on SemEval Task 3, subtask B (table 6)",
        data="an official .xml or .relevancy file, or a folder of them; plain or .gz",
        module=f"{options.MODULE_HELP}; not needed for files without text (.relevancy)",
        needed=False,
    )
    parser.add_argument(
        "--dev",
        type=Path,
        help="question file to choose the thresholds of P, R, F1 and accuracy on; default: the "
        'one in --data with "dev" in its name',
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace, *, command: str) -> None:
    """Score the module, or the search engine where there is no text, on every data set found."""
    from evaluation.tasks.cqa import write_predictions
    from evaluation.tasks.evaluate import evaluate

    storing = options.storing(arguments, command=command)
    results = evaluate(arguments.module, "cqa", arguments.data, dev=arguments.dev, **storing)
    for path in write_predictions(results, arguments.output):
        print(f"-> {path}\n")

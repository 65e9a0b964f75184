"""`response_ranking`: table 1.

python -m evaluation response_ranking --module DIR --data PATH --output DIR
"""

import argparse

from evaluation.cli import options


def add(commands) -> None:
    """Add the command `response_ranking`."""
    parser = options.task(
        commands,
        "response_ranking",
        summary="P@N: the true response among others (table 1)",
        data="folder with test-*.tfrecord, or one such file",
    )
    parser.add_argument("--candidates", type=int, default=100, help="default: %(default)s")
    parser.add_argument(
        "--at", type=int, nargs="+", metavar="N", help="the Ns of P@N; default: 1 3 10"
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace, *, command: str) -> None:
    """Rank the responses of the data."""
    from evaluation.tasks.evaluate import evaluate

    storing = options.storing(arguments, command=command)
    settings = {"candidates": arguments.candidates, "at": arguments.at}
    evaluate(arguments.module, "response_ranking", arguments.data, **settings, **storing)

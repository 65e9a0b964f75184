"""`response_ranking`: table 1.

python -m evaluation response_ranking --module DIR --data PATH --output DIR
"""

import argparse
from functools import partial

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
    from evaluation.results import runs
    from evaluation.tasks import response_ranking

    (source,) = response_ranking.find(arguments.data)
    data = response_ranking.read(source)
    response_ranking.check(data, candidates=arguments.candidates, at=arguments.at)
    settings = {"candidates": arguments.candidates, "seed": arguments.seed}
    encoder = options.encoder(arguments.module)
    runs.run_of(arguments, command=command).result(
        source,
        partial(response_ranking.evaluate, encoder, data, at=arguments.at, **settings),
        module=encoder.provenance(),
        settings=settings,
        figures=[f"p_at_{n}" for n in arguments.at or response_ranking.AT],
    )

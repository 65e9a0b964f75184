"""`sts`: tables 3, 4, 5 and figure 7.

python -m evaluation sts --module DIR --data PATH --output DIR
"""

import argparse
from functools import partial

from evaluation.commands import options


def add(commands) -> None:
    """Add the command `sts`."""
    parser = options.task(
        commands,
        "sts",
        summary="Pearson and Spearman on the STS Benchmark (tables 3, 4, 5, figure 7)",
        data="an STS Benchmark csv, or the folder of sts-dev.csv and sts-test.csv; plain or .gz",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace, *, command: str) -> None:
    """Score the module on every data set found."""
    from evaluation import runs, sts

    sources = sts.find(arguments.data)
    data_sets = [sts.read(source) for source in sources]  # before the slow load of the module
    encoder = options.encoder(arguments.module)
    run = runs.run_of(arguments, command=command)
    for source, data in zip(sources, data_sets, strict=True):
        run.result(source, partial(sts.evaluate, encoder, data), module=encoder.provenance())

"""`cqa`: table 6.

python -m evaluation cqa --module DIR --data PATH --output DIR
"""

import argparse
from functools import partial

from evaluation.commands import options


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
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace, *, command: str) -> None:
    """Score the module, or the search engine where there is no text, on every data set found."""
    from evaluation import cqa, runs

    sources = cqa.find(arguments.data)
    data_sets = [cqa.read(source) for source in sources]  # before the slow load of the module
    encoder = options.encoder(arguments.module) if arguments.module else None
    run = runs.run_of(arguments, command=command)
    for source, data in zip(sources, data_sets, strict=True):
        run.result(
            source,
            partial(cqa.evaluate, encoder, data),
            module=encoder.provenance() if encoder and data.has_text else None,
        )

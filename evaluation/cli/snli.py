"""`snli`: table 2.

python -m evaluation snli --module DIR --data PATH --output DIR
"""

import argparse
from pathlib import Path

from evaluation.cli import options


def add(commands) -> None:
    """Add the command `snli`."""
    parser = options.task(
        commands,
        "snli",
        summary="accuracy on SNLI (table 2)",
        data="folder of SNLI's files (*dev*, *test*; *train* where the module has no "
        "classify_nli), or one of them; .jsonl or .txt, plain or .gz",
    )
    for split in ("train", "dev"):
        parser.add_argument(
            f"--{split}",
            type=Path,
            help=f"{split} file for the classifier of a module without classify_nli; "
            "default: the one in --data",
        )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace, *, command: str) -> None:
    """Score dev and test, or the one file."""
    from evaluation.tasks.evaluate import evaluate

    storing = options.storing(arguments, command=command)
    settings = {"train": arguments.train, "dev": arguments.dev}
    evaluate(arguments.module, "snli", arguments.data, **settings, **storing)

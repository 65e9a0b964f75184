"""The data room's commands.

python -m data_pipeline sample --output DIR [--comments N] [--seed S]
python -m data_pipeline reddit --input 'GLOB[,GLOB...]' --output DIR [...]
python -m data_pipeline snli --input snli_1.0_train.jsonl.gz --output DIR [--shards N]
python -m data_pipeline vocabulary --input 'pairs/train-*' --output DIR [--min_count N] [...]
"""

import argparse
import logging
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from data_pipeline import sample
from data_pipeline.errors import InputError
from data_pipeline.execution.interrupts import run_until_interrupted


def main(argv: Sequence[str] | None = None) -> None:
    """Runs one command; exits with one line and status 1 on what the user can mend."""
    logging.basicConfig(format="%(message)s", level=logging.WARNING)
    logging.getLogger("data_pipeline").setLevel(logging.INFO)
    # While it is imported Beam warns of every cloud's client that is not installed.
    logging.disable(logging.WARNING)
    from data_pipeline.reddit import command as launch
    from data_pipeline.reddit import options
    from data_pipeline.snli import command as nli
    from data_pipeline.vocabulary import command as vocabulary

    logging.disable(logging.NOTSET)

    parser = _parser(
        reddit=options.add_arguments,
        snli=nli.add_arguments,
        vocabulary=vocabulary.add_arguments,
    )
    arguments, beam_arguments = parser.parse_known_args(argv)
    try:
        if arguments.command == "reddit":
            launch.run(arguments, beam_arguments)
        elif arguments.command == "vocabulary":
            vocabulary.run(arguments, beam_arguments)
        elif beam_arguments:
            raise InputError(f"unknown arguments: {' '.join(beam_arguments)}")
        elif arguments.command == "snli":
            nli.run(arguments)
        else:
            sample.write(Path(arguments.output), comments=arguments.comments, seed=arguments.seed)
    except (InputError, OSError) as error:
        sys.exit(f"error: {error}")


def _parser(**add_arguments: Callable[[argparse.ArgumentParser], None]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m data_pipeline", allow_abbrev=False)
    commands = parser.add_subparsers(dest="command", required=True)
    beam = "Any Beam pipeline option is accepted too, such as --runner=FlinkRunner."
    for name, what, epilog in (
        ("reddit", "Reddit dumps -> TFRecord pairs", beam),
        ("snli", "SNLI's files -> TFRecord pairs with labels", None),
        ("vocabulary", "pair files -> their words and bigrams, counted", beam),
    ):
        command = commands.add_parser(name, allow_abbrev=False, help=what, epilog=epilog)
        add_arguments[name](command)
    world = commands.add_parser("sample", allow_abbrev=False, help="make a sample world")
    world.add_argument("--output", required=True, metavar="DIR", help="the folder to write")
    world.add_argument(
        "--comments",
        type=int,
        default=sample.DEFAULT_COMMENTS,
        metavar="N",
        help="comments in the dump, millions for load tests; default: %(default)s",
    )
    world.add_argument("--seed", type=int, default=0, metavar="S", help="default: %(default)s")
    return parser


if __name__ == "__main__":
    run_until_interrupted(main)

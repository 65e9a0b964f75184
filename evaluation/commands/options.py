"""Options that several commands share."""

import argparse
from pathlib import Path

MODULE_HELP = "folder of a SavedModel, or a URL that tensorflow-hub resolves"


def task(
    commands, name: str, *, summary: str, data: str, module: str = MODULE_HELP, needed: bool = True
) -> argparse.ArgumentParser:
    """Add a command that scores a module on data, and return its parser."""
    parser = commands.add_parser(name, help=summary, description=summary)
    parser.add_argument("--module", metavar="DIR|URL", required=needed, help=module)
    parser.add_argument("--data", type=Path, required=True, help=data)
    parser.add_argument("--output", type=Path, required=True, help="folder for the result files")
    seeded(parser)
    again(parser)
    return parser


def seeded(parser: argparse.ArgumentParser) -> None:
    """Add --seed, for everything that is drawn: resamples, blocks, first weights."""
    parser.add_argument(
        "--seed", type=int, default=0, help="of all that is drawn at random; default: %(default)s"
    )


def again(parser: argparse.ArgumentParser) -> None:
    """Add --again."""
    parser.add_argument(
        "--again", action="store_true", help="compute results anew that are already in --output"
    )


def encoder(module):
    """Load a module, or return what is an encoder already."""
    if not isinstance(module, str):
        return module
    from evaluation.encoder import Encoder

    return Encoder(module)

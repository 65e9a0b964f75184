"""The command `conversational-embeddings`, which installing this project brings.

    conversational-embeddings data_pipeline reddit --help
    conversational-embeddings own --input EXPORT --format slack --output DIR

`common` or `model` among other people's packages would hide theirs, or be hidden. So all packages
are installed in one folder, which is on the path of this command and of what it starts, alone.
"""

import argparse
import os
import runpy
import sys
from pathlib import Path

NAME = "conversational-embeddings"
FOLDER = str(Path(__file__).resolve().parents[1])
OWN = "own"


def main() -> None:
    """Runs a program as `python -m PROGRAM` does in a checkout."""
    # As with `python -m`, the current folder can be imported from: it may have encoders.
    sys.path[:1] = [FOLDER, ""]
    others = filter(None, [os.environ.get("PYTHONPATH")])
    os.environ["PYTHONPATH"] = os.pathsep.join([FOLDER, *others])
    from common import command_line

    parser = argparse.ArgumentParser(prog=NAME, usage="%(prog)s PROGRAM COMMAND [OPTIONS]")
    parser.add_argument(
        "program", choices=[*command_line.EXTRAS, OWN], help="PROGRAM --help: its commands"
    )
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    given = parser.parse_args()
    command_line.runner = NAME
    sys.argv[1:] = given.arguments
    try:
        program = "common.own" if given.program == OWN else given.program
        runpy.run_module(program, run_name="__main__", alter_sys=True)
    except ImportError as error:
        sys.exit(f"error: {command_line.missing(given.program, error)}")

"""What others rely on, as one text: commands and options, signatures, fields of results.

    python -m tests.goldens.surface       # writes surface.txt

`docs/parameters.md` lists the parameters of training, and has a test of its own.
"""

import argparse
import importlib
from collections.abc import Iterator
from pathlib import Path

from common import command_line

SURFACE = Path(__file__).with_name("surface.txt")
PROGRAMS = ("data_pipeline", "model", "model.sts_regression", "export", "evaluation", "common.own")


def parsers() -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """Each command of each program, as a user types it, and its parser."""
    for program in PROGRAMS:
        commands = importlib.import_module(f"{program}.__main__").COMMANDS
        root = command_line.make_parser(program, "", commands)
        (choices,) = (
            action.choices
            for action in root._actions
            if isinstance(action, argparse._SubParsersAction)
        )
        for name, parser in choices.items():
            yield f"python -m {program} {name}", parser


def lines() -> Iterator[str]:
    """The surface, line by line."""
    for command, parser in parsers():
        yield command
        for action in parser._actions:
            names = ", ".join(action.option_strings) or action.dest
            shown = action.metavar
            shown = " ".join(shown) if isinstance(shown, tuple) else shown
            value = "" if action.nargs == 0 else f" {shown}"
            yield f"  {names}{value}{' (required)' if action.required else ''}"
    from export.module.signatures import SIGNATURES

    for name, signature in SIGNATURES.items():
        yield f"signature {name}: {', '.join(signature.inputs)} -> {', '.join(signature.outputs)}"
    from evaluation.results.result import Result

    yield f"result: {', '.join(Result.__annotations__)}"


if __name__ == "__main__":
    SURFACE.write_text("\n".join(lines()) + "\n")

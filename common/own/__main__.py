"""Trains a module on your own conversations, and says whether to use it.

python -m common.own --input EXPORT --format slack --output DIR
"""

from collections.abc import Sequence

from common import command_line
from common.command_line import Command
from common.own.options import OwnOptions

COMMANDS = [
    Command(
        "run",
        OwnOptions,
        run="common.own.run:run",
        summary="train a module on an export of conversations and compare it (the default)",
        example="--input export.zip --format slack --output own/",
        others="Options of the data_pipeline command of the format are accepted, too.",
    )
]


def main(argv: Sequence[str] | None = None) -> None:
    """Runs the command."""
    name = "common.own" if command_line.runner == "python -m" else "own"
    about = (__doc__ or "").replace("common.own", name)
    command_line.main(name, about, COMMANDS, argv, default="run")


if __name__ == "__main__":
    main()

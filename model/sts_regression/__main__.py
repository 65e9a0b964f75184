"""The STS regressors of Prijatelj et al. 2017: trains networks that compare two sentences."""

from collections.abc import Sequence

from common import command_line
from common.command_line import Command
from model.sts_regression.options import RunOptions

COMMANDS = [
    Command(
        "run",
        RunOptions,
        run="model.sts_regression.run:run",
        example="--preset quick --data DIR --vectors glove.txt --output regressors/",
    )
]


def main(argv: Sequence[str] | None = None) -> None:
    """Runs one command."""
    command_line.main("model.sts_regression", __doc__, COMMANDS, argv)


if __name__ == "__main__":
    main()

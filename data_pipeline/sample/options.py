"""The options of the sample command."""

from dataclasses import dataclass

from common.command_line import Options, option


@dataclass(frozen=True, kw_only=True)
class SampleOptions(Options):
    """The folder, the size and the seed of a sample world."""

    output: str = option(help="the local folder to write", metavar="DIR")
    comments: int = option(
        80_000, help="comments in the dump, millions for load tests", minimum=1, metavar="N"
    )
    seed: int = option(0, help="of all random draws", metavar="N")

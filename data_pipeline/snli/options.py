"""The options of the snli command."""

from dataclasses import dataclass

from common.command_line import option
from data_pipeline.execution.options import LimitOptions


@dataclass(frozen=True, kw_only=True)
class SnliOptions(LimitOptions):
    """The files, which of their pairs are kept, and how they are stored."""

    shards: int = option(1, help="how many files to write", minimum=1)
    pair_ids: tuple[str, ...] = option(
        (),
        help="keep only pairs whose pairID matches a pattern, such as 'cad-*'; default: all",
        metavar="PATTERN",
    )

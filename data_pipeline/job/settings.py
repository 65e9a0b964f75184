"""What the job depends on besides its source: made of any command's options."""

from typing import Any, NamedTuple

from data_pipeline.execution.acceptance import Limits
from data_pipeline.pairs.decontamination import Excluded
from data_pipeline.pairs.shards import Sharding


class Settings(NamedTuple):
    """What the graph depends on, made of the options and the input's size."""

    sharding: Sharding
    partitions: int
    """Of the join; each worker holds one in memory."""
    max_copies_of_pair: int | None = None
    excluded: Excluded | None = None
    limits: Limits = Limits()
    description: dict[str, Any] = {}
    """What of the options, the source's included, makes two jobs the same, as JSON."""

"""What the job depends on besides its source: made of any command's options."""

from typing import Any, NamedTuple

from data_pipeline.execution.options import LimitOptions
from data_pipeline.pairs.decontamination import Excluded
from data_pipeline.pairs.formats import make_format
from data_pipeline.pairs.options import HALVES, REPLIES, PairOptions
from data_pipeline.pairs.schema import stored_columns
from data_pipeline.pairs.shards import Sharding

_INPUT_BYTES_A_PARTITION = 32 << 20
"""Compressed input for one partition of the join and one train shard; some 300 MB of text."""
_MIN_PARTITIONS = 16
_MOST_PARTITIONS = 1024
_STORAGE = (
    *("split_by", "test_fraction", "train_shards", "test_shards"),
    *("format", "gzip", "records_per_file", "context_turns"),
)
"""The options of storage that two jobs must share to be the same."""


class Settings(NamedTuple):
    """What the graph depends on, made of the options and the input's size."""

    sharding: Sharding
    partitions: int
    """Of the join; each worker holds one in memory."""
    max_copies_of_pair: int | None = None
    excluded: Excluded | None = None
    limits: LimitOptions = LimitOptions()
    description: dict[str, Any] = {}
    """What of the options, the source's included, makes two jobs the same, as JSON."""


def settings_of(options: PairOptions, *, stored_bytes: int) -> Settings:
    """The settings; the input's size gives what the options leave open.

    Raises:
      InputError: if an evaluation set cannot be read.
    """
    parts = stored_bytes // _INPUT_BYTES_A_PARTITION
    partitions = max(_MIN_PARTITIONS, parts)
    sharding = Sharding(
        split_by=options.split_by,
        test_fraction=options.test_fraction,
        train_shards=options.train_shards or partitions,
        test_shards=options.test_shards or max(1, round(partitions * options.test_fraction)),
        format=make_format(
            options.format, names=stored_columns(options.context_turns), gzipped=options.gzip
        ),
        context_turns=options.context_turns,
        records_a_file=options.records_per_file,
        validation_fraction=options.validation_fraction,
        # A worker holds a shard in memory; most inputs need no more than one for validation.
        validation_shards=options.validation_shards
        or max(1, round(parts * options.validation_fraction)),
    )
    excluded = None
    if options.exclude_texts:
        excluded = Excluded(options.exclude_texts, are_halves=options.pairs_of == HALVES)
    return Settings(
        sharding,
        partitions=min(partitions, _MOST_PARTITIONS),
        max_copies_of_pair=options.max_copies_of_pair,
        excluded=excluded,
        limits=options,
        description={
            **_describe_storage(options, sharding),
            **options.describe(),
            "max_copies_of_pair": options.max_copies_of_pair,
            "exclude_texts": None if excluded is None else excluded.describe(),
            **options.describe_limits(),
        },
    )


def _describe_storage(options: PairOptions, sharding: Sharding) -> dict[str, Any]:
    shards = {"train_shards": sharding.train_shards, "test_shards": sharding.test_shards}
    description = {name: getattr(options, name) for name in _STORAGE} | shards
    # Left out where it is off: outputs that were complete before the option existed stay complete.
    if options.pairs_of != REPLIES:
        description["pairs_of"] = options.pairs_of
    if options.validation_fraction:
        description["validation_fraction"] = options.validation_fraction
        description["validation_shards"] = sharding.validation_shards
    return description

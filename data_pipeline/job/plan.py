"""What a job will do: its options, and what follows from them and from the size of its input."""

from typing import Any, NamedTuple

from data_pipeline.pairs.decontamination import Excluded
from data_pipeline.pairs.options import HALVES, PairOptions
from data_pipeline.pairs.shards import Shards, shards_of
from data_pipeline.sources.source import Source
from data_pipeline.sources.wrapped import FirstMessages, Halves
from data_pipeline.storage.inputs import InputFile

_INPUT_BYTES_A_PARTITION = 32 << 20
"""Compressed input for one partition of the join; some 300 MB of text."""
_MIN_PARTITIONS = 16
_MOST_PARTITIONS = 1024
_OF_ALL_SOURCES = (
    *("pairs_of", "split_by", "test_fraction", "validation_fraction", "format", "gzip"),
    *("records_per_file", "context_turns", "max_copies_of_pair"),
)
"""Options of all sources that change what is written, beside the shards."""


class Plan(NamedTuple):
    """What the graph and the published folder depend on."""

    options: PairOptions
    source: Source
    shards: Shards
    stored_bytes: int
    """Of the input; 0 for a sample of it."""
    partitions: int
    """Of the join; each worker holds one in memory."""
    excluded: Excluded | None = None
    """The texts of `--exclude_texts`."""

    def describe(self) -> dict[str, Any]:
        """What of the options, the source's included, makes two jobs the same, as JSON."""
        return {
            **{name: getattr(self.options, name) for name in _OF_ALL_SOURCES},
            **{f"{split}_shards": number for split, number in self.shards.by_split.items()},
            **self.options.describe(),
            "exclude_texts": self.excluded and self.excluded.describe(),
        }


def plan_of(options: PairOptions, files: list[InputFile]) -> Plan:
    """The plan of a job; raises an InputError for files that do not fit or cannot be read."""
    source: Source = options.source(files)
    if options.pairs_of == HALVES:
        source = Halves(source)
    stored_bytes = sum(file.size for file in files)
    if options.sample is not None:
        source, stored_bytes = FirstMessages(source, options.sample), 0
    partitions = max(_MIN_PARTITIONS, stored_bytes // _INPUT_BYTES_A_PARTITION)
    excluded = None
    if options.exclude_texts:
        excluded = Excluded(options.exclude_texts, are_halves=options.pairs_of == HALVES)
    return Plan(
        options,
        source,
        shards_of(options, stored_bytes=stored_bytes),
        stored_bytes,
        min(partitions, _MOST_PARTITIONS),
        excluded,
    )

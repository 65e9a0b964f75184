"""A source around another one, of which it changes some things."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from data_pipeline.sources.source import Layout, MessageBatch, Source, Wording
from data_pipeline.storage.filesystem import Tap
from data_pipeline.storage.inputs import InputFile


@dataclass(frozen=True)
class Wrapped:
    """The source itself: a `Source` whose every answer is that of `source`."""

    source: Source

    @property
    def layout(self) -> Layout:
        """That of the source."""
        return self.source.layout

    @property
    def rule_names(self) -> Sequence[str]:
        """Those of the source."""
        return self.source.rule_names

    @property
    def wording(self) -> Wording:
        """That of the source."""
        return self.source.wording

    @property
    def fields(self) -> Sequence[str]:
        """Those of the source."""
        return self.source.fields

    def describe(self) -> Mapping[str, Any]:
        """The description of the source."""
        return self.source.describe()

    def read(self, file: InputFile, tap: Tap) -> Iterator[MessageBatch]:
        """Yields the messages of the source."""
        yield from self.source.read(file, tap)

    def reads_parts(self, file: InputFile) -> bool:
        """Whether the source does."""
        return self.source.reads_parts(file)

    def faults(self, groups: frozenset[str]) -> list[str]:
        """Those of the source."""
        return self.source.faults(groups)

    def hints(self, groups: frozenset[str]) -> list[str]:
        """Those of the source."""
        return self.source.hints(groups)

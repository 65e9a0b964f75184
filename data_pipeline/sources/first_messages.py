"""A source that ends after the first messages of each file, for a look at them."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from data_pipeline.sources.source import MessageBatch, Wrapped
from data_pipeline.storage.filesystem import Tap
from data_pipeline.storage.inputs import InputFile

_MALFORMED_LINES = 10_000
"""How many end the search for messages, at least."""


@dataclass(frozen=True)
class FirstMessages(Wrapped):
    """A source that ends after the first messages of each file."""

    messages: int

    def reads_parts(self, file: InputFile) -> bool:
        """False: the first messages are in one place."""
        return False

    def read(self, file: InputFile, tap: Tap) -> Iterator[MessageBatch]:
        """Yields the first messages, and of their batches' malformed lines the same share."""
        left, malformed_left = self.messages, max(self.messages, _MALFORMED_LINES)
        for batch in self.source.read(file, tap):
            messages = batch.messages.slice(0, left)
            left -= messages.num_rows
            malformed = batch.malformed
            if rows := batch.messages.num_rows:
                malformed = malformed[: math.ceil(len(malformed) * messages.num_rows / rows)]
            lines = messages.num_rows + len(malformed)
            yield batch._replace(messages=messages, lines=lines, malformed=malformed)
            malformed_left -= len(batch.malformed)
            if not left or malformed_left <= 0:
                tap.size = file.size  # of the rest no checksum is needed
                return

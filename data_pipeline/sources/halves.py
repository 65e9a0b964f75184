"""A source made of another one: messages cut in half."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from data_pipeline.sources.source import SCHEMAS, Layout, MessageBatch, Source
from data_pipeline.storage.filesystem import Tap
from data_pipeline.storage.inputs import InputFile

LEAST_CHARACTERS = 20  # of each half; shorter ones are greetings, numbers of lists and the like
_BETWEEN_SENTENCES = re.compile(
    r"((?<=[.!?])\s+|(?<!\s)\s*\n\s*|(?<=[。！？｡।॥])(?![」』”’）])\s*|(?<=[。！？｡][」』”’）])\s*)"
)
"""Chinese and Japanese write no space there; a quote closes behind the mark."""


@dataclass(frozen=True)
class Halves:
    """Pairs without replies: the first half of a message is the input, the second the response.

    Consecutive sentences are what Logeswaran and Lee 2018 ("An efficient framework for learning
    sentence representations", section 3) learn from. On the real data of docs/results.md they give
    three quarters as many pairs as replies do. The source knows the threads, and answers all else.
    """

    source: Source
    layout = Layout.ROWS

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "source":  # asked while it is unpickled
            raise AttributeError(name)
        return getattr(self.source, name)

    @property
    def rule_names(self) -> Sequence[str]:
        """Those of the source, then that of messages that cannot be cut."""
        return [*self.source.rule_names, "one_sentence"]

    def read(self, file: InputFile, tap: Tap) -> Iterator[MessageBatch]:
        """Yields a row for each message; those that cannot be cut are dropped."""
        for batch in self.source.read(file, tap):
            yield batch._replace(messages=self._rows(batch.messages))

    def _rows(self, messages: pa.RecordBatch) -> pa.RecordBatch:
        """Messages [rows] -> rows with an input and a response, [rows]."""
        rules = messages.column("dropped_by").to_pylist()
        texts = messages.column("text").to_pylist()
        inputs = [""] * len(texts)
        for row, text in enumerate(texts):
            if rules[row] is None and (halves := cut_in_half(text)):
                inputs[row], texts[row] = halves
            elif rules[row] is None:
                rules[row] = len(self.source.rule_names)
        columns = dict(zip(messages.schema.names, messages.columns, strict=True))
        columns |= {"input": inputs, "text": texts, "dropped_by": rules}
        if (order := columns.get("order")) is not None:
            # Turns have no id, but their place in a thread is one.
            columns["id"] = pc.binary_join_element_wise(columns["thread"], order, ":")
        return pa.RecordBatch.from_pydict(columns, schema=SCHEMAS[Layout.ROWS])


def cut_in_half(text: str) -> tuple[str, str] | None:
    """Cuts a text between the two sentences that are nearest to its middle.

    None if there is one sentence, or a half has less than `LEAST_CHARACTERS`.
    """
    pieces = [*_BETWEEN_SENTENCES.split(text), ""]
    pairs = zip(pieces[::2], pieces[1::2], strict=True)
    written = [(sentence, " " if space else "") for sentence, space in pairs if sentence]
    ends = list(accumulate(len(sentence) for sentence, _ in written))
    if len(ends) < 2:
        return None
    half = min(range(1, len(ends)), key=lambda number: abs(ends[number - 1] - ends[-1] / 2))
    parts = written[:half], written[half:]
    first, second = ("".join(map("".join, part)).strip() for part in parts)
    return (first, second) if min(len(first), len(second)) >= LEAST_CHARACTERS else None

"""The boundary between input files and the job: a `Source` yields batches of messages.

A source knows a format (Reddit's dumps, CSV, a Parquet file) and the rules of its messages. The
join, the splits, the shards and the data card take `MessageBatch`es and know nothing of the format.
"""

from collections.abc import Iterator, Sequence
from enum import Enum
from typing import Any, NamedTuple, Protocol

import pyarrow as pa

from data_pipeline.storage.filesystem import Tap
from data_pipeline.storage.inputs import InputFile
from data_pipeline.storage.lines import MalformedLine

MESSAGES = pa.schema(
    [
        pa.field("id", pa.string(), nullable=False),
        pa.field("parent", pa.string()),
        pa.field("thread", pa.string(), nullable=False),
        pa.field("group", pa.string(), nullable=False),
        pa.field("author", pa.string()),
        pa.field("text", pa.large_string(), nullable=False),
        pa.field("created", pa.int64()),
        pa.field("dropped_by", pa.int8()),
    ]
)
"""The columns of messages, one row a message, in the order of the file; strings are UTF-8.

id: unique over all files of a job (`sources.ids` makes ids so that restart in each thread or file);
  of two messages with one id the first in reading order counts.
parent: the id of the message that it replies to; null if it replies to none.
thread: the conversation; with `--split_by thread` all of it is in one split.
group: what the data card counts by (Reddit: the subreddit); empty if there is none.
author: who wrote it, to tell replies to oneself; null if unknown.
text: as it is to be stored: unescaped and stripped.
created: seconds since 1970, UTC; null if unknown.
dropped_by: an index into `Source.rule_names`; null if the message is kept. Dropped messages are
  yielded too: they are counted, and nothing pairs with them.
"""


class Layout(Enum):
    """How the messages of a source become pairs."""

    LINKED = "linked"  # each message names the one that it replies to
    LINKED_THREADS = "linked without threads"
    """The same, but `thread` is empty: the messages that replies connect are a thread."""
    ORDERED = "ordered"
    """Messages follow each other in their thread, as `Source.flow` says; `order` is a number as
    text. Either messages have ids, and some name the one that they reply to, or `id` is empty: they
    are turns, whose ids are made when a thread is together."""
    ROWS = "rows"
    """Each row is a pair of `input` and the response, `text`. The turns before the input are
    columns `CONTEXT`, null where there is none."""


SCHEMAS = {
    Layout.LINKED: MESSAGES,
    Layout.LINKED_THREADS: MESSAGES,
    Layout.ORDERED: MESSAGES.append(pa.field("order", pa.string(), nullable=False)),
    Layout.ROWS: MESSAGES.append(pa.field("input", pa.large_string(), nullable=False)),
}
"""The columns of a batch."""


class Flow(NamedTuple):
    """How messages follow each other in a thread, where they have an order."""

    gap: float | None = None
    """Hours. A message that comes later than this after the one before begins a conversation, a
    thread of its own; any other one replies to the one before, unless it names a parent. With None
    a thread is one conversation, and only turns reply to the one before."""
    merges_author_runs: bool = False
    """Whether consecutive messages of one author are one turn, unless they name other parents."""
    is_apart: bool = False
    """Whether messages with a parent follow only those with the same one, shown apart."""


class Wording(NamedTuple):
    """What the data card calls a source and what is in it, in the singular."""

    name: str = ""  # empty for the names of the files
    message: str = "message"
    group: str = "group"
    file: str = "file"


class MessageBatch(NamedTuple):
    """Messages of consecutive lines (records, rows) of one file."""

    messages: pa.RecordBatch  # of the layout's schema in `SCHEMAS`; may be empty
    malformed: Sequence[MalformedLine] = ()  # the lines that are no message, in order
    groups: frozenset[str] = frozenset()
    """Those groups that `Source.hints` asks about and that occur here."""
    ascending: int = 0
    """How many turns come behind an earlier one of their thread, less those behind a later one."""


class Source(Protocol):
    """A kind of input. It is sent to workers, so it must be picklable, and comparable by value."""

    layout: Layout
    wording: Wording
    ids_within: str | None
    """Where an id names one message; unless in `ALL`, two texts of one id end the job."""
    repeated: Any  # what its first texts have in common, for the data card; None if nobody looked
    flow: Flow

    @property
    def rule_names(self) -> Sequence[str]:
        """The names of the rules that drop messages, in their order; at most 127."""

    def read(self, file: InputFile, tap: Tap) -> Iterator[MessageBatch]:
        """Yields the messages of a file, some thousands a batch, in order.

        What reads all bytes as they are stored reads them through `tap`, for their checksum. An
        UnreadableFileError if the file cannot be opened or is truncated or corrupt.
        """

    def reads_parts(self, file: InputFile) -> bool:
        """Whether `read` can begin at any line, with `read_line_batches`, as processes do."""

    def hints(self, groups: frozenset[str]) -> list[str]:
        """Reasons for having less than was asked for, by the groups of all files, to warn of."""

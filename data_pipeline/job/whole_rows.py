"""Messages packed whole: rows that must come together, or need no join.

Turns are packed by thread, since only a whole thread says which turn is before which. Rows that
are pairs already are packed by their id, to divide the work. All other messages are packed for the
join (`Packer`).
"""

from collections.abc import Iterator

import pyarrow as pa

from data_pipeline.execution.columns import by_key, concat, encode
from data_pipeline.job.join import Packer, partitions_of
from data_pipeline.sources.source import SCHEMAS, Layout


class WholePacker:
    """Packs whole rows by the subpartition of one of their columns."""

    def __init__(self, schema: pa.Schema, key: str, subpartitions: int):
        self.subpartitions = subpartitions
        self._schema = schema
        self._key = key
        self._batches: list[pa.RecordBatch] = []
        self.messages = 0
        self.bytes = 0

    def add(self, messages: pa.RecordBatch) -> None:
        """Adds messages."""
        self._batches.append(messages)
        self.messages += messages.num_rows
        self.bytes += messages.nbytes

    def packed(self) -> Iterator[tuple[int, list[pa.Buffer]]]:
        """(subpartition, an Arrow message of its rows)."""
        rows = concat(self._batches, self._schema)
        keys = partitions_of(rows.column(self._key), self.subpartitions)
        for subpartition, some in by_key(rows, keys):
            yield subpartition, [encode(some)]


def make_packer(layout: Layout, subpartitions: int) -> Packer | WholePacker:
    """What packs the messages of a source of this layout."""
    if layout is Layout.TURNS:
        return WholePacker(SCHEMAS[layout], "thread", subpartitions)
    if layout is Layout.ROWS:
        return WholePacker(SCHEMAS[layout], "id", subpartitions)
    return Packer(subpartitions)

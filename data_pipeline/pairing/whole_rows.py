"""Messages packed whole: rows that must come together, or need no join.

Turns are packed by thread, since only a whole thread says which turn is before which. Rows that
are pairs already are packed by their id, to divide the work. All other messages are packed for the
join (`Packer`).
"""

from collections.abc import Iterator
from typing import Any

import orjson
import pyarrow as pa

from data_pipeline.messages.source import Layout
from data_pipeline.pairing.join import SUBPARTITIONS, Packer, subpartition_of


class WholePacker:
    """Packs whole rows by the subpartition of one of their columns."""

    def __init__(self, key: str):
        self._key = key
        self._rows: list[list[tuple]] = [[] for _ in range(SUBPARTITIONS)]
        self.messages = 0

    def add(self, messages: pa.RecordBatch) -> None:
        """Adds messages."""
        keys = messages.column(self._key).to_pylist()
        columns = (column.to_pylist() for column in messages.columns)
        for key, row in zip(keys, zip(*columns, strict=True), strict=True):
            self._rows[subpartition_of(key)].append(row)
        self.messages += messages.num_rows

    def packed(self) -> Iterator[tuple[int, bytes]]:
        """(subpartition, a line with its rows)."""
        for subpartition, rows in enumerate(self._rows):
            if rows:
                yield subpartition, orjson.dumps(rows, option=orjson.OPT_APPEND_NEWLINE)


def read_whole_rows(packed: bytes) -> Iterator[list[list[Any]]]:
    """The rows of a block, as they were packed."""
    return map(orjson.loads, packed.splitlines())


def make_packer(layout: Layout) -> Packer | WholePacker:
    """What packs the messages of a source of this layout."""
    if layout is Layout.TURNS:
        return WholePacker("thread")
    if layout is Layout.ROWS:
        return WholePacker("id")
    return Packer()

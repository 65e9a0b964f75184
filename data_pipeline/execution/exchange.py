"""The exchange: what the stages of a job hand on, rows brought together by a key.

    rows = batches | "Send" >> exchange.send(key_of) | beam.GroupByKey()   # (key, blocks)
    batch = received(blocks, schema)

Beam spends some 10 microseconds on an element, so an element is not a row but a block: all rows
that one worker has for one key. A block holds its bytes inline, which is how an engine shuffles
it, or only says where they are in a file. Beam's local runner keeps all grouped values in memory,
so there blocks stay in files, and the input may be larger than the memory.
"""

import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby, pairwise
from typing import Any, NamedTuple

import apache_beam as beam
import numpy as np
import pyarrow as pa
from apache_beam.io.filesystems import FileSystems
from apache_beam.transforms.window import GlobalWindows
from backports import zstd

from data_pipeline.execution.columns import concat
from data_pipeline.storage.filesystem import NewFile, is_remote, open_stored

FLUSH_BYTES = 32 << 20  # a worker collects no more rows than this for one exchange, over all keys
_LEVEL = 1
"""On such text level 1 halves the bytes at some 300 MB/s; level 3 saves a tenth more and takes
twice as long."""

KeyOf = Callable[[pa.RecordBatch], tuple[pa.RecordBatch, np.ndarray]]
"""Makes of a batch the rows to send and their keys: integers; rows with a negative one stay."""


class Block(NamedTuple):
    """Some rows of one key; `received` reads it."""

    path: str = ""  # the file that it lies in
    offset: int = 0
    length: int = 0
    data: bytes = b""  # the rows themselves, compressed, if they are in no file


class BatchCoder(beam.coders.Coder):
    """Arrow batches between two stages, as IPC streams.

    Beam asks for the size of a sample of all elements, and Python's own coder would pickle them to
    tell: a fortieth of a job.
    """

    def encode(self, value: pa.RecordBatch) -> bytes:
        """The schema and the batch."""
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, value.schema) as stream:
            stream.write_batch(value)
        return sink.getvalue().to_pybytes()

    def decode(self, encoded: bytes) -> pa.RecordBatch:
        """The batch."""
        return pa.ipc.open_stream(encoded).read_next_batch()

    def estimate_size(self, value: pa.RecordBatch) -> int:
        """The bytes of its columns."""
        return value.nbytes


beam.coders.registry.register_coder(pa.RecordBatch, BatchCoder)


class Exchange(NamedTuple):
    """How rows travel between the stages of a job."""

    folder: str
    inline: bool  # inside the elements, else in files of the folder

    def send(self, key_of: KeyOf, *, columns: Sequence[str] | None = None) -> beam.PTransform:
        """Arrow batches of one schema -> (key, block of its rows); `columns` of them, or all."""
        return beam.ParDo(_Send(self, key_of, columns))

    def blocks(self, by_key: Iterable[tuple[int, pa.RecordBatch]]) -> list[tuple[int, Block]]:
        """A block for each key, all in one file or each with its rows inside."""
        if self.inline:
            packed = ((key, zstd.compress(rows.serialize(), _LEVEL)) for key, rows in by_key)
            return [(key, Block(data=data)) for key, data in packed]
        blocks = []
        with NewFile(FileSystems.join(self.folder, f"{uuid.uuid4().hex}.blocks")) as file:
            for key, rows in by_key:
                start = file.size
                blocks.append((key, Block(file.path, start, file.write(rows.serialize()))))
        return blocks


def group_all(blocks: beam.PCollection, *, keys: int) -> beam.PCollection:
    """(key, its blocks) for each of the first keys, also for those without rows."""
    listed = beam.Create([(key, None) for key in range(keys)], reshuffle=False)
    nothing = blocks.pipeline | "List all keys" >> listed
    return (blocks, nothing) | "Add empty keys" >> beam.Flatten() | beam.GroupByKey()


class _Send(beam.DoFn):
    def __init__(self, exchange: Exchange, key_of: KeyOf, columns: Sequence[str] | None):
        self._exchange = exchange
        self._key_of = key_of
        self._columns = columns

    def start_bundle(self) -> None:
        self._batches: list[pa.RecordBatch] = []
        self._bytes = 0

    def process(self, element: pa.RecordBatch) -> Iterator[Any]:
        batch = element if self._columns is None else element.select(self._columns)
        if batch.num_rows:
            self._batches.append(batch)
            self._bytes += batch.nbytes
        if self._bytes >= FLUSH_BYTES:
            yield from self._flush()

    def finish_bundle(self) -> Iterator[Any]:
        yield from map(GlobalWindows.windowed_value, self._flush())

    def _flush(self) -> Sequence[tuple[int, Block]]:
        batches = self._batches
        self.start_bundle()
        if not batches:
            return []
        rows, keys = self._key_of(concat(batches, batches[0].schema))
        return self._exchange.blocks(divided(rows, keys)) if rows.num_rows else []


def divided(rows: pa.RecordBatch, keys: np.ndarray) -> Iterator[tuple[int, pa.RecordBatch]]:
    """(key, its rows in their order) for each key of the rows, the negative ones left out."""
    sent = np.flatnonzero(keys >= 0)
    # NumPy sorts integers of 16 bits by radix, in a tenth of the time.
    small = keys.astype(np.uint16) if keys.max(initial=0) < 1 << 16 else keys
    order = sent[np.argsort(small[sent], kind="stable")]
    ordered, of_row = rows.take(pa.array(order)), keys[order]
    starts = np.flatnonzero(np.diff(of_row, prepend=-1)).tolist()
    for start, end in pairwise([*starts, len(order)]):
        yield int(of_row[start]), ordered.slice(start, end - start)


def received(blocks: Iterable[Block | None], schema: pa.Schema) -> pa.RecordBatch:
    """The rows of all blocks in one batch, in no particular order; None stands for no rows."""
    batches = []
    for path, of_file in groupby(sorted(filter(None, blocks)), key=lambda block: block.path):
        file = _open(path) if path else None
        for block in of_file:
            if file is None:
                rows = zstd.decompress(block.data)
            else:
                file.seek(block.offset)
                rows = file.read_buffer(block.length)
            batches.append(pa.ipc.read_record_batch(rows, schema))
    return concat(batches, schema)


def _open(path: str) -> pa.NativeFile:
    """A file whose `read_buffer` gives the file's own pages where it is on this machine."""
    return pa.PythonFile(open_stored(path)) if is_remote(path) else pa.memory_map(path)

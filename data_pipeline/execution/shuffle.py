"""Blocks of rows: what the stages of a pipeline hand on.

Beam spends some 10 microseconds on an element, so an element is not a row but a block: all rows
that one worker has for one key. A block holds its bytes inline, which is how an engine shuffles
it, or only says where they are in a file. Beam's local runner keeps all grouped values in memory,
so there blocks stay in files, and the input may be larger than the memory.
"""

import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import groupby
from typing import Any, NamedTuple, Self

import apache_beam as beam
import google_crc32c
import numpy as np
import pyarrow as pa
from apache_beam.io.filesystems import FileSystems
from apache_beam.transforms.window import GlobalWindows
from backports import zstd

from data_pipeline.execution.columns import Rows, by_key, concat, encode
from data_pipeline.storage.filesystem import NewFile, is_remote, open_stored

CHUNK = np.dtype([("length", "<u4"), ("crc32c", "<u4")])
"""An entry of a block's index: bytes of one chunk, and their checksum."""
FLUSH_BYTES = 32 << 20
"""A worker packs no more rows than this at once, over all keys."""
_LEVEL = 1
"""On such text level 1 halves the bytes at some 300 MB/s; level 3 saves a tenth more and takes
twice as long."""
_OPTIONS: dict[int, int] = {
    zstd.CompressionParameter.compression_level: _LEVEL,
    zstd.CompressionParameter.checksum_flag: 1,
}

RowsByKey = Mapping[Any, Sequence[Rows]]


class Block(NamedTuple):
    """Some rows, compressed or not; `read_blocks` reads it."""

    source: str
    """The file that it lies in, or an ID of the worker's batch."""
    offset: int
    """Where it starts in the source; blocks of one source are read in this order."""
    length: int
    data: bytes | None
    """The bytes, or None if they are in the file."""
    compressed: bool = True
    position: int = 0
    """Of the source in reading order."""
    chunks: bytes = b""
    """Lengths and checksums of the chunks that it consists of (`CHUNK`), if known."""


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


class DamagedFileError(Exception):
    """The checksum of a file has changed since it was written; the message is its path."""


class Compressor:
    """Compresses block after block with one zstd context."""

    def __init__(self) -> None:
        self._context = zstd.ZstdCompressor(options=_OPTIONS)

    def __call__(self, rows: Sequence[Rows]) -> bytes:
        """One frame of all rows, with a checksum of its contents."""
        return self._context.compress(b"".join(rows), self._context.FLUSH_FRAME)


class FileBlocks(NewFile):
    """Writes blocks to a file, uncompressed: the file is gone when the job is done."""

    def append(self, rows: Sequence[Rows]) -> Block:
        """Writes some rows; the block says where they are."""
        start = self.size
        return Block(self.path, start, sum(map(self.write, rows)), None, compressed=False)


class InlineBlocks:
    """Makes blocks that hold their bytes, compressed: engines pay for each byte they move."""

    def __init__(self, source: str):
        self._source = source
        self._number = 0
        self._compress = Compressor()

    def __enter__(self) -> Self:
        return self

    def append(self, rows: Sequence[Rows]) -> Block:
        """Makes a block of some rows."""
        self._number += 1
        data = self._compress(rows)
        return Block(self._source, self._number, len(data), data)

    def __exit__(self, *_: object) -> None:
        pass


class Transport(NamedTuple):
    """How blocks travel between the stages of the job."""

    folder: str
    inline: bool
    """Inside the elements, else in files of the folder."""

    def open(self) -> FileBlocks | InlineBlocks:
        """Opens a batch of blocks of one worker."""
        name = uuid.uuid4().hex
        if self.inline:
            return InlineBlocks(name)
        return FileBlocks(FileSystems.join(self.folder, f"{name}.blocks"))


class PackBatches(beam.DoFn):
    """Arrow batches of one schema -> (key, block of their rows with this key) elements."""

    def __init__(
        self,
        transport: Transport,
        keyed: Callable[[pa.RecordBatch], tuple[pa.RecordBatch, np.ndarray]],
    ):
        """`keyed` makes of an element a batch and the keys of its rows: integers, 0 or more."""
        self._transport = transport
        self._keyed = keyed

    def start_bundle(self) -> None:
        """Starts with nothing packed."""
        self._batches: list[pa.RecordBatch] = []
        self._keys: list[np.ndarray] = []
        self._bytes = 0

    def process(self, element: pa.RecordBatch) -> Iterator[Any]:
        """Packs a batch; yields blocks when enough is packed."""
        batch, keys = self._keyed(element)
        if batch.num_rows:
            self._batches.append(batch)
            self._keys.append(keys)
            self._bytes += batch.nbytes
        if self._bytes >= FLUSH_BYTES:
            yield from self._flush()

    def finish_bundle(self) -> Iterator[Any]:
        """Yields the rest."""
        yield from map(GlobalWindows.windowed_value, self._flush())

    def _flush(self) -> list[tuple[int, Block]]:
        packed = pack_batches(self._batches, self._keys, self._transport)
        self.start_bundle()
        return packed


def pack_batches(
    batches: Sequence[pa.RecordBatch], keys: Sequence[np.ndarray], transport: Transport
) -> list[tuple[int, Block]]:
    """(key, block) for each key that has rows."""
    if not batches:
        return []
    together = by_key(concat(batches, batches[0].schema), np.concatenate(keys))
    return pack({key: [encode(batch)] for key, batch in together}, transport)


def pack(rows_by_key: RowsByKey, transport: Transport) -> list[tuple[Any, Block]]:
    """(key, block) for each key that has rows."""
    if not rows_by_key:
        return []
    with transport.open() as blocks:
        return [(key, blocks.append(rows)) for key, rows in rows_by_key.items()]


def read_blocks(blocks: Iterable[Block]) -> Iterator[Rows]:
    """The rows of each block, decompressed, in reading order.

    Raises:
      DamagedFileError: if a file has changed since the block was written.
    """
    in_order = sorted(blocks, key=lambda block: (block.position, block.source, block.offset))
    for source, of_source in groupby(in_order, key=lambda block: block.source):
        with ExitStack() as stack:
            stream = None
            for block in of_source:
                data = block.data
                if data is None:
                    stream = stream or stack.enter_context(_open(source))
                    data = _read(stream, block)
                _require_checksums(block, data)
                try:
                    yield b"".join(_frames(data)) if block.compressed else data
                except zstd.ZstdError as error:
                    raise DamagedFileError(source) from error


def _open(source: str) -> pa.NativeFile:
    """A file whose `read_buffer` gives the file's own pages where it is on this machine."""
    return pa.PythonFile(open_stored(source)) if is_remote(source) else pa.memory_map(source)


def _read(stream: pa.NativeFile, block: Block) -> pa.Buffer:
    try:
        stream.seek(block.offset)
        data = stream.read_buffer(block.length)
    except OSError as error:
        if error.errno is None:  # the file ends before the block begins
            raise DamagedFileError(block.source) from error
        raise
    if len(data) < block.length:
        raise DamagedFileError(block.source)
    return data


def _require_checksums(block: Block, data: Rows) -> None:
    """Compares checksums chunk by chunk: which chunks make a block depends on the job."""
    start = 0
    for length, checksum in np.frombuffer(block.chunks, CHUNK).tolist():
        if google_crc32c.value(data[start : start + length]) != checksum:
            raise DamagedFileError(block.source)
        start += length


def _frames(data: Rows) -> Iterator[bytes]:
    """The contents of consecutive zstd frames."""
    # zstd.decompress does the same, but copies all that is left for each frame.
    rest = memoryview(data)
    while rest:
        size = zstd.get_frame_size(rest)
        yield zstd.ZstdDecompressor().decompress(rest[:size])
        rest = rest[size:]

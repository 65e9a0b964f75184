"""Runs of rows, on their way from the reading to the join and from there to a shard.

A block is either at hand, its bytes inside the element, which is how an engine shuffles it, or
in a file, the element saying only where. Beam's local runner keeps all that is grouped in
memory, so there blocks stay in files, and a corpus may be larger than the memory.
"""

import uuid
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from itertools import groupby
from types import TracebackType
from typing import NamedTuple, Self

import google_crc32c
import numpy as np
from apache_beam.io.filesystems import FileSystems
from backports import zstd

from data_pipeline.files.output_folder import aside_of, open_stored

PART = np.dtype([("length", "<u4"), ("crc32c", "<u4")])
_LEVEL = 1
"""On such text level 1 halves the bytes at some 300 MB/s; level 3 saves a tenth more and takes
twice as long."""
_OPTIONS: dict[int, int] = {
    zstd.CompressionParameter.compression_level: _LEVEL,
    zstd.CompressionParameter.checksum_flag: 1,
}


class Block(NamedTuple):
    """Some rows, compressed or as they are; `read_blocks` takes it."""

    source: str
    """The file that it lies in, or that its rows came from."""
    offset: int
    """Where it begins in the file. Blocks of one source are in reading order by this."""
    length: int
    data: bytes | None
    """The bytes, or None for a block that is in its file."""
    compressed: bool = True
    position: int = 0
    """Of the source in reading order."""
    parts: bytes = b""
    """Lengths and checksums of the parts that it is made of (`PART`), if they are known."""


class DamagedFileError(Exception):
    """A file has another checksum than when it was written; the message is its path."""


class Compressor:
    """Compresses block after block with one zstd context."""

    def __init__(self) -> None:
        self._context = zstd.ZstdCompressor(options=_OPTIONS)

    def __call__(self, data: bytes | bytearray) -> bytes:
        """One frame, with the checksum of what is in it."""
        return self._context.compress(data, self._context.FLUSH_FRAME)


class BlockFile:
    """Writes blocks one behind the other; the file gets its name when all are written."""

    def __init__(self, path: str):
        self._path = path
        self._aside = aside_of(path)
        self._stream = FileSystems.create(self._aside, mime_type="application/octet-stream")
        self.size = 0
        self._checksum = google_crc32c.Checksum()

    def __enter__(self) -> Self:
        return self

    def append(self, data: bytes, *, compressed: bool = True) -> Block:
        """Writes some rows, compressed or not, and says where they are."""
        self._stream.write(data)
        self._checksum.update(data)
        block = Block(self._path, self.size, len(data), None, compressed)
        self.size += len(data)
        return block

    def append_rows(self, rows: bytes | bytearray) -> Block:
        """Writes rows as they are: the file is gone when the job is done."""
        return self.append(bytes(rows), compressed=False)

    @property
    def crc32c(self) -> str:
        """The checksum of all that was written, in hexadecimal digits."""
        return self._checksum.hexdigest().decode()

    def __exit__(
        self, error: type[BaseException] | None, value: object, traceback: TracebackType | None
    ) -> None:
        self._stream.close()
        if error is None:
            FileSystems.rename([self._aside], [self._path])
        else:
            FileSystems.delete([self._aside])


class BlocksAtHand:
    """Takes blocks as a `BlockFile` does, but leaves the bytes in them."""

    def __init__(self, source: str):
        self._source = source
        self._number = 0
        self._compress = Compressor()

    def __enter__(self) -> Self:
        return self

    def append_rows(self, rows: bytes | bytearray) -> Block:
        """Makes a block of some rows, compressed: engines pay for each byte that travels."""
        self._number += 1
        data = self._compress(rows)
        return Block(self._source, self._number, len(data), data)

    def __exit__(self, *_: object) -> None:
        pass


class Transport(NamedTuple):
    """How blocks travel between the stages of the job."""

    folder: str
    at_hand: bool
    """Inside the elements, or in files of the folder."""

    def open(self) -> BlockFile | BlocksAtHand:
        """Takes blocks from one worker."""
        name = uuid.uuid4().hex
        if self.at_hand:
            return BlocksAtHand(name)
        return BlockFile(FileSystems.join(self.folder, f"{name}.blocks"))


def read_blocks(blocks: Iterable[Block]) -> Iterator[bytes]:
    """The rows of each block, decompressed, in the order of the sources and in reading order.

    Raises:
      DamagedFileError: if a file is not what it was when the block was written.
    """
    in_order = sorted(blocks, key=lambda block: (block.position, block.source, block.offset))
    for source, of_source in groupby(in_order, key=lambda block: block.source):
        with ExitStack() as stack:
            stream = None
            for block in of_source:
                data = block.data
                if data is None:
                    stream = stream or stack.enter_context(open_stored(source))
                    stream.seek(block.offset)
                    data = stream.read(block.length)
                _require_parts(block, data)
                try:
                    yield b"".join(_frames(data)) if block.compressed else data
                except zstd.ZstdError as error:
                    raise DamagedFileError(source) from error


def _require_parts(block: Block, data: bytes) -> None:
    """Compares checksums part by part: which parts make a block depends on the job."""
    begin = 0
    for length, checksum in np.frombuffer(block.parts, PART).tolist():
        if google_crc32c.value(data[begin : begin + length]) != checksum:
            raise DamagedFileError(block.source)
        begin += length


def _frames(data: bytes) -> Iterator[bytes]:
    """What is in each of some frames, one behind the other."""
    # zstd.decompress does the same, but copies all that is left for each frame.
    rest = memoryview(data)
    while rest:
        size = zstd.get_frame_size(rest)
        yield zstd.ZstdDecompressor().decompress(rest[:size])
        rest = rest[size:]

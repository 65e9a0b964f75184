"""Files of any compression -> batches of lines.

The name tells the compression. Every way of losing lines is an error: a file that ends before its
end marker, a damaged stream, and bytes after a stream that do not start another one (which
Python's own bz2 and lzma files ignore silently).
"""

import bz2
import errno
import gzip
import lzma
import zipfile
import zlib
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from functools import partial
from itertools import chain, count, repeat
from pathlib import PurePath
from types import SimpleNamespace
from typing import BinaryIO, NamedTuple, cast

import numpy as np
import orjson
from backports import zstd

from common.tables import Line
from data_pipeline.storage.filesystem import Tap
from data_pipeline.storage.inputs import InputFile, UnreadableFileError

BATCH_BYTES = 1 << 20
"""Decompressed bytes a batch: some thousands of lines. With 4 MiB, which no cache holds, reading
takes a tenth longer."""
MAX_LINE_BYTES = 16 << 20
"""Of a longer line only the start is kept: a file without line ends must not fill the memory.
The longest comments have 10,000 characters, their lines not a hundredth of this."""
KEPT_OF_TOO_LONG = 1000
"""Bytes of a line, or characters of an example, that are kept where the whole is too long."""
MOST_DEAD_LETTERS = 100_000  # how many malformed lines a job stores; all are counted
_ZSTD_WINDOW_LOG = 31
"""Pushshift compresses with a window of 2^31 bytes, which decoders refuse by default."""
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
COMPRESSIONS = (".gz", ".bz2", ".xz", ".zst")  # suffixes of the compressed files that can be read
_CORRUPT = (EOFError, zlib.error, lzma.LZMAError, zstd.ZstdError, zipfile.BadZipFile)
_PERMANENT = (errno.ENOENT, errno.EACCES, errno.EPERM, errno.EISDIR)


class MalformedLine(NamedTuple):
    """A line that could not be parsed, its number from 1, and the parser's message."""

    path: str
    number: int
    line: bytes
    reason: str

    def as_dead_letter(self) -> bytes:
        """A line of `dead_letters-*.jsonl`; bytes that are not UTF-8 become backslash escapes."""
        raw = self.line.decode(errors="backslashreplace")
        return orjson.dumps(
            {"file": self.path, "line": self.number, "reason": self.reason, "raw": raw},
            option=orjson.OPT_APPEND_NEWLINE,
        )


class LineBatch(NamedTuple):
    """Consecutive lines of a file, without their line ends."""

    path: str
    first_line: int  # the number of the first line in the file, from 1
    content: bytes  # the lines with a line feed between two
    number_of_lines: int
    first_bytes: int = 0
    """The bytes of the first line if it was too long and only its start is here, else 0."""

    @property
    def lines(self) -> list[bytes]:
        """The lines, one by one."""
        return self.content.split(b"\n")

    def numbered(self) -> Iterator[Line]:
        """The lines with their numbers."""
        lines, fault = self.lines, ""
        if self.first_bytes:
            fault = f"a line of {self.first_bytes} bytes; at most {MAX_LINE_BYTES} are read"
            lines[0] = lines[0][:KEPT_OF_TOO_LONG]
        return zip(count(self.first_line), lines, chain([fault], repeat("")))


def is_compressed(file: InputFile) -> bool:
    """Whether its name says that it is compressed."""
    return PurePath(file.path).suffix.lower() in COMPRESSIONS


def plain_suffix(path: str) -> str:
    """The suffix that says a file's format, in lower case; that of a compression is behind it."""
    name = PurePath(path.lower())
    return PurePath(name.stem).suffix if name.suffix in COMPRESSIONS else name.suffix


def read_line_batches(file: InputFile, tap: Tap | None = None) -> Generator[LineBatch]:
    """Yields all lines of a file in batches of about `BATCH_BYTES`, read through `tap`.

    Raises as `read_chunks`.
    """
    tap = tap or Tap()
    return _split_lines(file.path, read_chunks(file, tap), tap)


def read_chunks(file: InputFile, tap: Tap) -> Generator[bytes]:
    """Yields the decompressed contents of a file, of a part whole lines, read through `tap`.

    Raises an UnreadableFileError if the file cannot be opened or is truncated or corrupt.
    """
    path = file.path
    try:
        if not file.size and is_compressed(file):
            raise EOFError("it is empty")
        with closing(file.open()) as raw:
            chunks = _decompress(path, tap.on(raw).read)
            yield from chunks if file.end is None else _lines_of_part(file, file.end, chunks, tap)
    except (*_CORRUPT, OSError) as error:
        # bz2 and gzip report corrupt data as an OSError without a number; one with a number
        # that may pass (a network file system's, say) goes on to the runner, which tries again.
        if getattr(error, "errno", None) is None:
            raise UnreadableFileError(f"{path}: truncated or corrupt: {error}") from error
        if isinstance(error, OSError) and error.errno in _PERMANENT:
            raise UnreadableFileError(f"{path}: {error.strerror}") from error
        raise


def _lines_of_part(file: InputFile, end: int, chunks: Iterator[bytes], tap: Tap) -> Iterator[bytes]:
    """The lines that begin behind the start of a part and not behind its end; and the first line.

    Each line is in one part, also where a part starts inside a line. A chunk is where its last byte
    is, which is the same for whoever reads the file, since all read it from its start. So whoever
    reads the last part has the checksum of the file.
    """
    has_begun = not file.start
    for chunk in chunks:
        if tap.size > end:
            # The last line goes on behind the part, to which it belongs.
            line, found, _ = chunk.partition(b"\n")
            if has_begun:
                yield line + found
            if found or not has_begun:
                return
        elif has_begun:
            yield chunk
        else:
            size = len(chunk) if tap.size <= file.start else chunk.find(b"\n") + 1 or len(chunk)
            has_begun = tap.size > file.start and chunk[:size].endswith(b"\n")
            tap.lines += _line_feeds(chunk[:size])
            if has_begun:
                yield chunk[size:]


def _decompress(path: str, read: Callable[[int], bytes]) -> Iterator[bytes]:
    match PurePath(path).suffix.lower():
        case ".zst":
            window: dict[int, int] = {zstd.DecompressionParameter.window_log_max: _ZSTD_WINDOW_LOG}
            # A file object of zstd's would copy twice more: 0.42 microseconds a comment, not 0.28.
            return _streams(read, partial(zstd.ZstdDecompressor, options=window))
        case ".gz":
            raw = cast(BinaryIO, SimpleNamespace(read=read))
            return iter(partial(gzip.open(raw).read, BATCH_BYTES), b"")
        case ".bz2":
            return _streams(read, bz2.BZ2Decompressor, padding=b"\0")
        case ".xz":
            return _streams(read, lzma.LZMADecompressor, padding=b"\0")
        case _:
            return iter(partial(read, BATCH_BYTES), b"")


def _streams(
    read: Callable[[int], bytes],
    new: Callable[[], bz2.BZ2Decompressor | lzma.LZMADecompressor | zstd.ZstdDecompressor],
    *,
    padding: bytes = b"",
) -> Iterator[bytes]:
    """The decompressed contents of consecutive streams, with any padding between them."""
    decompressor, data = new(), read(BATCH_BYTES)
    while data or not decompressor.eof:
        if decompressor.eof:
            decompressor = new()
        elif decompressor.needs_input and not data:
            raise EOFError("it ends before its end marker")
        yield decompressor.decompress(data, BATCH_BYTES)
        data = b""
        if decompressor.eof:
            # xz pads streams with NULs.
            data = decompressor.unused_data.lstrip(padding)
            while not data and (more := read(BATCH_BYTES)):
                data = more.lstrip(padding)
        elif decompressor.needs_input:
            data = read(BATCH_BYTES)


def _split_lines(path: str, chunks: Iterator[bytes], tap: Tap) -> Generator[LineBatch]:
    lines, head, skipped = 0, b"", 0
    for chunk in chunks:
        end = chunk.rfind(b"\n")
        if end < 0:
            # Still inside one line.
            if len(head) < MAX_LINE_BYTES:
                head += chunk
            else:
                skipped += len(chunk)
            continue
        of_first = chunk.index(b"\n")
        size = len(head) + skipped + of_first
        # Of a line that is too long, only the head is kept.
        content = b"".join((head, memoryview(chunk)[of_first if skipped else 0 : end]))
        yield (batch := _batch(path, tap.lines + lines + 1, content, size_of_first=size))
        lines += batch.number_of_lines
        head, skipped = chunk[end + 1 :], 0
    if head:
        yield _batch(path, tap.lines + lines + 1, head, size_of_first=len(head) + skipped)


def _batch(path: str, first_line: int, content: bytes, *, size_of_first: int) -> LineBatch:
    # Only the first line of a batch can be longer than a chunk.
    first_bytes = size_of_first if size_of_first > MAX_LINE_BYTES else 0
    if first_line == 1:
        content = content.removeprefix(_BYTE_ORDER_MARK)
    return LineBatch(path, first_line, content, _line_feeds(content) + 1, first_bytes)


def _line_feeds(content: bytes) -> int:
    # NumPy counts them five times as fast as bytes.count.
    return int(np.count_nonzero(np.frombuffer(content, np.uint8) == ord("\n")))

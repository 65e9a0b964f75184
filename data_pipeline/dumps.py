"""Files of any compression -> batches of lines.

Local paths and whatever Beam's filesystems reach (gs://, s3://, hdfs://). The compression is
told from the name. Every way of losing lines is an error: a file that ends before its end
marker, a stream that is damaged, and bytes after a stream that begin no other one (which
Python's own bz2 and lzma files pass over in silence).
"""

import bz2
import errno
import gzip
import lzma
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path, PurePath
from typing import BinaryIO, NamedTuple

from apache_beam.io.filesystem import CompressionTypes
from apache_beam.io.filesystems import FileSystems
from backports import zstd

from data_pipeline.errors import InputError

BATCH_BYTES = 4 << 20
"""Decompressed bytes a batch: some thousands of lines, so that what Beam spends on an element
is spent on thousands of comments at once."""
_ZSTD_WINDOW_LOG = 31
"""Pushshift compresses with a window of 2^31 bytes, which decoders refuse by default."""
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_MAGIC = {
    ".gz": b"\x1f\x8b",
    ".bz2": b"BZh",
    ".xz": b"\xfd7zXZ\x00",
    ".zst": b"\x28\xb5\x2f\xfd",
}
"""How files of each compression begin."""
_CORRUPT = (EOFError, zlib.error, lzma.LZMAError, zstd.ZstdError)
_FOR_GOOD = (errno.ENOENT, errno.EACCES, errno.EPERM, errno.EISDIR)


class Dump(NamedTuple):
    """One file of the input."""

    path: str
    size: int
    """Bytes as stored, so compressed."""


class LineBatch(NamedTuple):
    """Consecutive lines of a dump, without their line ends."""

    path: str
    first_line: int
    """The number of the first line, from 1."""
    lines: list[bytes]


class UnreadableDumpError(Exception):
    """A dump that no second try will read: gone, forbidden, truncated or corrupt."""


def find_dumps(patterns: list[str]) -> list[Dump]:
    """All files that the patterns name, each once, in the order of their paths.

    Raises:
      InputError: if a pattern matches nothing, matches a folder, or is on a filesystem that
        Beam does not reach.
    """
    found = {}
    for pattern in patterns:
        try:
            (match,) = FileSystems.match([pattern])
        except ValueError as error:  # no filesystem for such paths
            raise InputError(f"--input: {pattern!r}: {error}") from error
        if not match.metadata_list:
            raise InputError(
                f"--input: {pattern!r} matches no file; accepted are file names and patterns, "
                "separated by commas, such as 'dumps/RC_2015-*.zst,more/RC_2016-01.bz2'"
            )
        found.update({file.path: file.size_in_bytes for file in match.metadata_list})
    folder = next((path for path in found if Path(path).is_dir()), None)
    if folder is not None:
        raise InputError(f"--input: {folder!r} is a folder; name its files: '{folder}/RC_*'")
    return [Dump(path, found[path]) for path in sorted(found)]


def read_line_batches(dump: Dump) -> Iterator[LineBatch]:
    """Yields all lines of a dump in batches of about `BATCH_BYTES`.

    Raises:
      UnreadableDumpError: if the file cannot be opened or is truncated or corrupt.
    """
    path = dump.path
    try:
        with closing(FileSystems.open(path, compression_type=CompressionTypes.UNCOMPRESSED)) as raw:
            yield from _split_lines(path, _decompress(dump, raw))
    except _CORRUPT as error:
        raise UnreadableDumpError(f"{path}: truncated or corrupt: {error}") from error
    except OSError as error:
        # bz2 and gzip report corrupt data as an OSError without a number; one with a number
        # that may pass (a network file system's, say) goes on to the runner, which tries again.
        if error.errno is None:
            raise UnreadableDumpError(f"{path}: truncated or corrupt: {error}") from error
        if error.errno in _FOR_GOOD:
            raise UnreadableDumpError(f"{path}: {error.strerror}") from error
        raise


def _decompress(dump: Dump, raw: BinaryIO) -> Iterator[bytes]:
    suffix = PurePath(dump.path).suffix.lower()
    if suffix in _MAGIC and dump.size == 0:
        raise EOFError(f"an empty file is no {suffix} file")
    match suffix:
        case ".zst":
            window: dict[int, int] = {zstd.DecompressionParameter.window_log_max: _ZSTD_WINDOW_LOG}
            return _chunks(zstd.open(raw, options=window).read)
        case ".gz":
            return _chunks(gzip.open(raw).read)
        case ".bz2":
            return _streams(raw, bz2.BZ2Decompressor)
        case ".xz":
            return _streams(raw, lzma.LZMADecompressor)
        case _:
            return _plain(raw)


def _chunks(read: Callable[[int], bytes]) -> Iterator[bytes]:
    return iter(partial(read, BATCH_BYTES), b"")


def _plain(raw: BinaryIO) -> Iterator[bytes]:
    chunks = _chunks(raw.read)
    first = next(chunks, b"")
    for suffix, magic in _MAGIC.items():
        if first.startswith(magic):
            raise EOFError(f"it is compressed; its name must end in {suffix}")
    yield first
    yield from chunks


def _streams(
    raw: BinaryIO, new: Callable[[], bz2.BZ2Decompressor | lzma.LZMADecompressor]
) -> Iterator[bytes]:
    """The contents of the streams that a file holds one after the other."""
    decompressor, data = new(), raw.read(BATCH_BYTES)
    while data or not decompressor.eof:
        if decompressor.eof:
            decompressor = new()
        elif decompressor.needs_input and not data:
            raise EOFError("it ends before its end marker")
        yield decompressor.decompress(data, BATCH_BYTES)
        data = b""
        if decompressor.eof:
            # xz pads streams with NULs.
            data = decompressor.unused_data.lstrip(b"\0") or raw.read(BATCH_BYTES).lstrip(b"\0")
        elif decompressor.needs_input:
            data = raw.read(BATCH_BYTES)


def _split_lines(path: str, chunks: Iterator[bytes]) -> Iterator[LineBatch]:
    first_line, rest = 1, b""
    for chunk in chunks:
        *lines, rest = (rest + chunk).split(b"\n")
        if first_line == 1 and lines:
            lines[0] = lines[0].removeprefix(_BYTE_ORDER_MARK)
        if lines:
            yield LineBatch(path, first_line, lines)
            first_line += len(lines)
    if rest:
        yield LineBatch(path, first_line, [rest])

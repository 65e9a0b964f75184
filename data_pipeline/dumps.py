"""Files of any compression -> batches of lines.

Local paths and whatever Beam's filesystems reach (gs://, s3://, hdfs://). The compression is
told from the name; each of these libraries raises when a file ends before its end marker, so
that a truncated download is noticed instead of being read as a short month.
"""

import bz2
import errno
import gzip
import lzma
import zlib
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path, PurePath
from typing import BinaryIO, NamedTuple, Protocol

from apache_beam.io.filesystem import CompressionTypes
from apache_beam.io.filesystems import FileSystems
from backports import zstd

from data_pipeline.errors import InputError

BATCH_BYTES = 4 << 20
"""Decompressed bytes a batch: some thousands of lines, so that what Beam spends on an element
is spent on thousands of comments at once."""
_ZSTD_WINDOW_LOG = 31
"""Pushshift compresses with a window of 2^31 bytes, which decoders refuse by default."""
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


class Stream(Protocol):
    """What all the decompressors have in common."""

    def read(self, size: int, /) -> bytes:
        """Up to `size` bytes, none at the end."""


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


def read_line_batches(path: str) -> Iterator[LineBatch]:
    """Yields all lines of a dump in batches of about `BATCH_BYTES`.

    Raises:
      UnreadableDumpError: if the file cannot be opened or is truncated or corrupt.
    """
    try:
        with closing(FileSystems.open(path, compression_type=CompressionTypes.UNCOMPRESSED)) as raw:
            yield from _split_lines(path, _decompress(path, raw))
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


def _decompress(path: str, raw: BinaryIO) -> Stream:
    match PurePath(path).suffix:
        case ".zst":
            window: dict[int, int] = {zstd.DecompressionParameter.window_log_max: _ZSTD_WINDOW_LOG}
            return zstd.open(raw, options=window)
        case ".gz":
            return gzip.open(raw)
        case ".bz2":
            return bz2.open(raw)
        case ".xz":
            return lzma.open(raw)
        case _:
            return raw


def _split_lines(path: str, stream: Stream) -> Iterator[LineBatch]:
    first_line, rest = 1, b""
    while chunk := stream.read(BATCH_BYTES):
        *lines, rest = (rest + chunk).split(b"\n")
        if lines:
            yield LineBatch(path, first_line, lines)
            first_line += len(lines)
    if rest:
        yield LineBatch(path, first_line, [rest])

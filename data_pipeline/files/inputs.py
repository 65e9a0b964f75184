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
from typing import BinaryIO, NamedTuple, cast

import google_crc32c
from apache_beam.io.filesystem import FileMetadata
from apache_beam.io.filesystems import FileSystems
from backports import zstd

from data_pipeline.errors import InputError
from data_pipeline.files.output_folder import open_stored, require_unicode

BATCH_BYTES = 4 << 20
"""Decompressed bytes a batch: some thousands of lines."""
MAX_LINE_BYTES = 16 << 20
"""Of a longer line only the beginning is kept: a file without line ends must not fill the memory.
The longest comments have 10,000 characters, their lines not a hundredth of this."""
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
    modified: float = 0.0
    """When it was last written, in seconds since 1970; 0 where the filesystem does not say."""


class LineBatch(NamedTuple):
    """Consecutive lines of a dump, without their line ends."""

    path: str
    first_line: int
    """The number of the first line, from 1."""
    lines: list[bytes]
    too_long: dict[int, int]
    """Index in `lines` -> bytes, for the lines of which only the beginning is here."""


class Tap:
    """Counts and checks the stored bytes of a dump that are read through it."""

    def __init__(self) -> None:
        self.size = 0
        self._checksum = google_crc32c.Checksum()
        self._stream: BinaryIO

    def on(self, stream: BinaryIO) -> "Tap":
        """Begins to read a stream."""
        self._stream = stream
        return self

    def read(self, size: int = -1) -> bytes:
        """Reads from the stream."""
        data = self._stream.read(size)
        self.size += len(data)
        self._checksum.update(data)
        return data

    @property
    def crc32c(self) -> str:
        """The checksum of all that was read, in hexadecimal digits."""
        return self._checksum.hexdigest().decode()


class UnreadableDumpError(Exception):
    """A dump that no second try will read: gone, forbidden, truncated or corrupt."""


def find_dumps(patterns: list[str]) -> list[Dump]:
    """All files that the patterns name, each once: in the order of the patterns, then of paths.

    Raises:
      InputError: if a pattern matches nothing, matches a folder, or is on a filesystem that
        Beam does not reach.
    """
    found: dict[str, Dump] = {}
    for pattern in patterns:
        try:
            files = match_files(pattern)
        except ValueError as error:  # no filesystem for such paths
            raise InputError(f"--input: {pattern!r}: {error}") from error
        if not files:
            raise InputError(
                f"--input: {pattern!r} matches no file; accepted are file names and patterns, "
                "separated by commas, such as 'dumps/RC_2015-*.zst,more/RC_2016-01.bz2'"
            )
        for file in sorted(files, key=lambda file: file.path):
            require_unicode("--input", file.path)
            modified = file.last_updated_in_seconds or 0.0
            found.setdefault(file.path, Dump(file.path, file.size_in_bytes, modified))
    folder = next((path for path in found if Path(path).is_dir()), None)
    if folder is not None:
        raise InputError(f"--input: {folder!r} is a folder; name its files: '{folder}/RC_*'")
    # A file may have been named in two ways; the first counts.
    once: dict[str, Dump] = {}
    for dump in found.values():
        once.setdefault(full_path(dump), dump)
    return list(once.values())


def match_files(pattern: str) -> list[FileMetadata]:
    """The files that a pattern names; a file of exactly this name comes before a pattern.

    Raises:
      ValueError: if no filesystem has such paths.
    """
    if FileSystems.exists(pattern):
        # Beam takes each name that it matches for a pattern.
        return [FileSystems.get_filesystem(pattern).metadata(pattern)]
    (match,) = FileSystems.match([_with_folder(pattern)])
    return match.metadata_list


def _with_folder(pattern: str) -> str:
    """Beam finds nothing by a pattern without a folder, such as RC_*."""
    return pattern if "/" in pattern else f"./{pattern}"


def full_path(dump: Dump) -> str:
    """Where a dump is, from wherever one looks."""
    return dump.path if "://" in dump.path else str(Path(dump.path).resolve())


def is_compressed(dump: Dump) -> bool:
    """Whether its name says that it is compressed."""
    return PurePath(dump.path).suffix.lower() in _MAGIC


def checksum(path: str) -> str:
    """The CRC-32C of a file as stored, in hexadecimal digits."""
    with closing(open_stored(path)) as raw:
        tap = Tap().on(raw)
        while tap.read(BATCH_BYTES):
            pass
    return tap.crc32c


def read_line_batches(dump: Dump, tap: Tap | None = None) -> Iterator[LineBatch]:
    """Yields all lines of a dump in batches of about `BATCH_BYTES`, read through the tap.

    Raises:
      UnreadableDumpError: if the file cannot be opened or is truncated or corrupt.
    """
    path = dump.path
    try:
        with closing(open_stored(path)) as raw:
            yield from _split_lines(path, _decompress(dump, (tap or Tap()).on(raw)))
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


def _decompress(dump: Dump, raw: Tap) -> Iterator[bytes]:
    suffix = PurePath(dump.path).suffix.lower()
    if suffix in _MAGIC:
        _require_kind(dump.path, suffix)
    match suffix:
        case ".zst":
            window: dict[int, int] = {zstd.DecompressionParameter.window_log_max: _ZSTD_WINDOW_LOG}
            return _chunks(zstd.open(cast(BinaryIO, raw), options=window).read)
        case ".gz":
            return _chunks(gzip.open(cast(BinaryIO, raw)).read)
        case ".bz2":
            return _streams(raw, bz2.BZ2Decompressor)
        case ".xz":
            return _streams(raw, lzma.LZMADecompressor)
        case _:
            return _plain(dump.path, raw)


def _chunks(read: Callable[[int], bytes]) -> Iterator[bytes]:
    return iter(partial(read, BATCH_BYTES), b"")


def _require_kind(path: str, suffix: str) -> None:
    """Makes sure that a file is not plainly of another kind than its name says.

    Raises:
      UnreadableDumpError: if it is empty, text, or compressed in another way.
    """
    with closing(open_stored(path)) as raw:
        begin = raw.read(max(map(len, _MAGIC.values())))
    if not begin:
        raise UnreadableDumpError(f"{path}: the file is empty, which is no valid {suffix} file")
    for other, magic in _MAGIC.items():
        if other != suffix and begin.startswith(magic):
            raise _misnamed(path, other)
    if begin.startswith(b"{"):
        raise UnreadableDumpError(
            f"{path}: it is not compressed; its name must not end in {suffix}"
        )


def _misnamed(path: str, suffix: str) -> UnreadableDumpError:
    return UnreadableDumpError(f"{path}: it is a {suffix} file; its name must end in {suffix}")


def _plain(path: str, raw: Tap) -> Iterator[bytes]:
    chunks = _chunks(raw.read)
    first = next(chunks, b"")
    for suffix, magic in _MAGIC.items():
        if first.startswith(magic):
            raise _misnamed(path, suffix)
    yield first
    yield from chunks


def _streams(
    raw: Tap, new: Callable[[], bz2.BZ2Decompressor | lzma.LZMADecompressor]
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
    first_line, head, passed_over = 1, b"", 0
    for chunk in chunks:
        *lines, rest = chunk.split(b"\n")
        if not lines:
            # Still inside one line.
            if len(head) < MAX_LINE_BYTES:
                head += rest
            else:
                passed_over += len(rest)
            continue
        if not passed_over:
            lines[0] = head + lines[0]
            yield _batch(path, first_line, lines, size_of_first=len(lines[0]))
        else:
            size = len(head) + passed_over + len(lines[0])
            yield _batch(path, first_line, [head, *lines[1:]], size_of_first=size)
        first_line += len(lines)
        head, passed_over = rest, 0
    if head:
        yield _batch(path, first_line, [head], size_of_first=len(head) + passed_over)


def _batch(path: str, first_line: int, lines: list[bytes], *, size_of_first: int) -> LineBatch:
    # Only the first line of a batch can be longer than a chunk.
    too_long = {0: size_of_first} if size_of_first > MAX_LINE_BYTES else {}
    if first_line == 1:
        lines[0] = lines[0].removeprefix(_BYTE_ORDER_MARK)
    return LineBatch(path, first_line, lines, too_long)

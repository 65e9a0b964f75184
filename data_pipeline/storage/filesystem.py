"""Reading and writing whole files on any of Beam's filesystems (local, gs://, s3://).

The one place that writes files: under another name first, which is renamed when the file is whole.
"""

import json
import logging
import os
import shutil
import uuid
from contextlib import closing
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any, BinaryIO, Self, TypeVar

import google_crc32c
import pyarrow as pa
from apache_beam.io.aws.clients.s3 import boto3_client
from apache_beam.io.aws.s3io import S3IO, parse_s3_path
from apache_beam.io.filesystem import CompressionTypes, FileMetadata
from apache_beam.io.filesystems import FileSystems
from apache_beam.options.pipeline_options import PipelineOptions

boto3 = boto3_client.boto3  # None where it is not installed
if boto3 is not None:
    # One client for all accesses, which threads can share: Beam would make one for each, most of
    # the time of a job of small files.
    _client = cache(lambda **settings: boto3.session.Session().client(**settings))
    _session = SimpleNamespace(client=_client)
    boto3_client.boto3 = SimpleNamespace(session=SimpleNamespace(Session=lambda: _session))

PARTIAL = ".partial"  # the suffix of files that are still being written
_READ_BYTES = 4 << 20
T = TypeVar("T", bytes, pa.Buffer)


def reach_object_stores(options: PipelineOptions | None = None) -> None:
    """Tells Beam's filesystems their options before the first access, not when a job starts."""
    FileSystems.set_options(options or PipelineOptions([]))
    # Beam logs the traceback of each error that it then raises.
    logging.getLogger().addFilter(lambda record: record.module != "s3io")


def require_reachable(path: str) -> None:
    """Asks an S3 once for the bucket, where Beam asks for eight minutes; raises an OSError."""
    if not path.startswith("s3://") or boto3 is None:
        return
    bucket, _ = parse_s3_path(path, object_optional=True)
    try:
        _s3_client(path).list_objects_v2(Bucket=bucket, MaxKeys=1)
    except Exception as error:  # botocore's have no base that is there without it
        raise OSError(f"{path}: {error}") from error


def _s3_client(path: str) -> Any:
    options = FileSystems.get_filesystem(path)._options  # type: ignore[attr-defined]
    return S3IO(options=options).client.client


def is_remote(path: str) -> bool:
    """Whether a path is on an object store (gs://, s3://, ...)."""
    return "://" in path


def absolute_path(path: str) -> str:
    """The absolute path; links are not followed."""
    return path if is_remote(path) else os.path.abspath(path)  # noqa: PTH100


def full_path(path: str) -> str:
    """The absolute path, with links resolved."""
    return path if is_remote(path) else str(Path(path).resolve())


def open_stored(path: str) -> BinaryIO:
    """Opens a file to read its bytes as stored, without decompression."""
    return FileSystems.open(path, compression_type=CompressionTypes.UNCOMPRESSED)


def read_bytes(path: str) -> bytes:
    """The bytes of a file as stored."""
    with open_stored(path) as stream:
        return stream.read()


def _create(path: str) -> BinaryIO:
    return FileSystems.create(path, compression_type=CompressionTypes.UNCOMPRESSED)


def write_object(path: str, content: bytes) -> None:
    """Writes an object whole, in place of one that is there."""
    with _create(path) as stream:
        stream.write(content)


def as_json(value: Any) -> bytes:
    """JSON that people can read too."""
    return (json.dumps(value, indent=2) + "\n").encode()


class Tap:
    """Counts the bytes that are read from a stream, and their checksum."""

    def __init__(self) -> None:
        self.size = 0
        self.lines = 0  # how many lines are before those that a reader of a part of a file gives
        self._checksum = google_crc32c.Checksum()
        self._stream: Any = None

    def on(self, stream: BinaryIO) -> Self:
        """Starts reading from a stream."""
        self._stream = stream
        return self

    def read(self, size: int = -1) -> bytes:
        """Reads at most this many bytes, or all."""
        return self.add(self._stream.read(size))

    def add(self, data: T) -> T:
        """Counts some bytes, and returns them."""
        self.size += len(data)
        self._checksum.update(data)
        return data

    @property
    def crc32c(self) -> str:
        """The CRC-32C of all bytes so far, in hexadecimal digits."""
        return self._checksum.hexdigest().decode()


def file_crc32c(path: str) -> str:
    """The CRC-32C of a file as stored, in hexadecimal digits."""
    with closing(open_stored(path)) as stream:
        tap = Tap().on(stream)
        while tap.read(_READ_BYTES):
            pass
    return tap.crc32c


class NewFile(Tap):
    """A file being written; it gets its name when the `with` block ends without an error."""

    def __init__(self, path: str):
        super().__init__()
        self.path = path
        # No two attempts at a file share a name.
        self._aside = f"{path}.{uuid.uuid4().hex}{PARTIAL}"

    def __enter__(self) -> Self:
        return self

    def write(self, data: bytes | pa.Buffer) -> int:
        """Appends bytes; returns how many."""
        if data:
            self._stream = self._stream or _create(self._aside)
            self._stream.write(data)
        return len(self.add(data))

    def __exit__(self, error: type[BaseException] | None, *_: object) -> None:
        if self._stream is not None:
            self._stream.close()
            if error is None:
                FileSystems.rename([self._aside], [self.path])
            else:
                FileSystems.delete([self._aside])
        elif error is None and self.path.startswith("s3://"):
            # Beam uploads in parts, of which an empty object has none, and S3 refuses that.
            bucket, key = parse_s3_path(self.path)
            _s3_client(self.path).put_object(Bucket=bucket, Key=key, Body=b"")
        elif error is None:
            _create(self.path).close()


def write_file(path: str, content: bytes | pa.Buffer) -> NewFile:
    """Writes a whole file; returns it for its size and checksum."""
    with NewFile(path) as file:
        file.write(content)
    return file


def files_like(folder: str, pattern: str) -> list[FileMetadata]:
    """The files of a folder that a pattern with `*` names, such as `read-*`."""
    (match,) = FileSystems.match([FileSystems.join(folder, pattern)])
    return match.metadata_list


def delete_folder(path: str) -> None:
    """Deletes a folder, if it is there, with everything in it."""
    if is_remote(path):
        # Only of a path that ends in a slash does Beam delete what is under it.
        FileSystems.delete([f"{path}/"])
    else:
        shutil.rmtree(path, ignore_errors=True)

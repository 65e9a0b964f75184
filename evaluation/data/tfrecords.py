"""TFRecord files of tf.Examples, record by record."""

import gzip
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from evaluation.data.files import without_gz
from evaluation.errors import InputError

BATCH = 1024
FRAME = 16
"""Bytes of a record's length and checksums."""
CHUNK = 1 << 20


def read(path: Path) -> Iterator[tuple[Mapping[str, Any], str]]:
    """Yield each record's features and its place for an error, `file: record 1` and on."""
    import tensorflow as tf  # here, because importing it takes seconds
    from google.protobuf.message import DecodeError

    for number, record in enumerate(records(path), start=1):
        place = f"{path}: record {number}"
        try:
            yield tf.train.Example.FromString(record).features.feature, place
        except DecodeError as error:
            raise InputError(f"{place}: not a tf.Example ({error})") from error


def records(path: Path) -> Iterator[bytes]:
    """Yield each record of a file, plain or .gz, as it is."""
    import tensorflow as tf

    compression = "" if without_gz(path) == path.name else "GZIP"
    number, size = 0, 0
    try:
        found = tf.data.TFRecordDataset(str(path), compression_type=compression)
        for record in _in_batches(found, tf.errors.OpError):
            yield record
            number, size = number + 1, size + len(record) + FRAME
        # A file cut off in a header, or anywhere in a .gz, is a whole one for TensorFlow.
        if size != _unpacked_size(path):
            raise EOFError("it ends within a record")
    except (tf.errors.OpError, EOFError, zlib.error, gzip.BadGzipFile) as error:
        said = error.message if isinstance(error, tf.errors.OpError) else str(error)
        reason = re.sub(r"\{\{.*?\}\} ?| ?\[Op:.*", "", said.splitlines()[0])
        raise InputError(
            f"{path}: damaged after record {number}, or no TFRecord file ({reason})"
        ) from error


def _unpacked_size(path: Path) -> int:
    if without_gz(path) == path.name:
        return path.stat().st_size
    with gzip.open(path) as file:
        return sum(map(len, iter(partial(file.read, CHUNK), b"")))


def _in_batches(records: Any, error: type[Exception]) -> Iterator[bytes]:
    """Yield each record; in batches, since a call of TensorFlow costs more than a record.

    A batch that fails is read again one by one, for the records before the damage.
    """
    done = 0
    try:
        for batch in records.batch(BATCH).as_numpy_iterator():
            yield from batch
            done += len(batch)
    except error:
        yield from records.skip(done).as_numpy_iterator()


def texts(features: Mapping[str, Any], names: Sequence[str], *, place: str) -> list[str]:
    """Return the text of each of these features, which must hold one string each."""
    values = []
    for name in names:
        found: Sequence[bytes] = features[name].bytes_list.value if name in features else ()
        if len(found) != 1:
            raise InputError(
                f"{place}: feature {name!r} has {len(found)} byte strings; one is needed "
                f"in each of {', '.join(names)}"
            )
        try:
            values.append(found[0].decode("utf-8"))
        except UnicodeDecodeError as error:
            raise InputError(f"{place}: feature {name!r} is not UTF-8 ({error.reason})") from error
    return values

"""TFRecord files of tf.Examples, record by record."""

import gzip
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import google_crc32c

from common.errors import reading

T = TypeVar("T")
Features = Mapping[str, Any]
"""Features of a tf.Example by name."""


def parse_records(path: Path, parse: Callable[[Features], T]) -> Iterator[T]:
    """Yield what `parse` makes of the features of each record of a file, plain or .gz.

    TensorFlow's own reader takes a .gz file that is cut off for a whole one.

    Raises:
      InputError: if `parse` raises an error, or the file is damaged; names the record.
    """
    from tensorflow.core.example.example_pb2 import Example  # importing TensorFlow takes seconds

    number = 0
    with reading(path), gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
        # A record is its length, that number's checksum, the bytes, and their checksum.
        while header := file.read(12):
            number += 1
            with reading(f"{path}: record {number}"):
                is_length = len(header) == 12 and _checksum(header[:8]) == header[8:]
                record = file.read(*struct.unpack("<Q", header[:8])) if is_length else None
                if record is None or _checksum(record) != file.read(4):
                    raise ValueError("damaged, or no TFRecord file")
                features = parse(Example.FromString(record).features.feature)
            yield features


def text(features: Features, name: str) -> str:
    """Return a feature that holds one text."""
    values: Sequence[bytes] = features[name].bytes_list.value if name in features else ()
    if len(values) != 1:
        raise ValueError(f"feature {name!r} has {len(values)} texts; one is needed")
    return values[0].decode("utf-8")


def _checksum(data: bytes) -> bytes:
    """Return TFRecord's masked CRC-32C."""
    crc = google_crc32c.value(data)
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)

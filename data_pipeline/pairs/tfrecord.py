"""The TFRecords between the pipeline and the models: names, encoding, framing.

The one place where the feature names of a pair stand. Nothing here needs TensorFlow, so that
neither the launcher of the Beam job nor its workers wait for the import; a test reads the
records back with TensorFlow.
"""

import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import repeat
from operator import add
from typing import Any

import google_crc32c
import numpy as np

INPUT = "input"
RESPONSE = "response"
INPUT_ID = "input_id"
RESPONSE_ID = "response_id"
THREAD_ID = "thread_id"
SUBREDDIT = "subreddit"
FEATURES = (INPUT, RESPONSE, INPUT_ID, RESPONSE_ID, THREAD_ID, SUBREDDIT)
"""The features of a pair, each one UTF-8 string."""
CONTEXT = "context/{}"
"""The turns before the input, where they were asked for: `context/0` is the one it replies to,
and so on; empty where the conversation has no earlier one."""

PREMISE = "premise"
HYPOTHESIS = "hypothesis"
LABEL = "label"
PAIR_ID = "pair_id"
LABELS = ("entailment", "neutral", "contradiction")
"""An NLI pair's label is the index in here, an integer; its other features are strings."""

TRAIN_PATTERN = "train-*-of-*.tfrecord"
GZIP_SUFFIX = ".gz"
"""What the names of compressed record files end in besides."""

_LENGTH = struct.Struct("<Q")
_CRC = np.dtype("<u4")
_HEADER_BYTES = _LENGTH.size + _CRC.itemsize
_LENGTH_DELIMITED = 2
"""The protocol buffer wire type of strings, bytes, nested messages and packed numbers."""
_BYTES_LIST = 1
_INT64_LIST = 3
"""The fields of `tf.train.Feature`."""


def encode_example(features: Mapping[str, str | int]) -> bytes:
    """Serializes a `tf.train.Example` that holds one UTF-8 string or integer a feature."""
    entries = b""
    for name, value in features.items():
        if isinstance(value, str):
            payload = value.encode()
            entries += _before_value(name, _BYTES_LIST, len(payload)) + payload
        else:
            payload = _varint(value)
            entries += _before_value(name, _INT64_LIST, len(payload)) + payload
    return _header(1, len(entries)) + entries


def encode_columns(names: Sequence[str], columns: Sequence[Sequence[str]]) -> list[bytes]:
    """What `encode_example` makes of each row of string columns; for millions of pairs.

    Nothing here runs once a row but what is written in C.
    """
    parts: list[Iterable[bytes]] = []
    for before, column in zip(map(_before_strings, names), columns, strict=True):
        encoded = list(map(str.encode, column))
        parts += (map(before.__getitem__, map(len, encoded)), encoded)
    entries = list(map(b"".join, zip(*parts, strict=True)))
    headers = map(_header, repeat(1), map(len, entries))
    return list(map(add, headers, entries))


class _BeforeStrings(dict[int, bytes]):
    """What stands before a string of each size in one feature."""

    def __init__(self, name: str):
        super().__init__()
        self._name = name

    def __missing__(self, size: int) -> bytes:
        self[size] = _before_value(self._name, _BYTES_LIST, size)
        return self[size]


@lru_cache(maxsize=64)
def _before_strings(name: str) -> _BeforeStrings:
    return _BeforeStrings(name)


@lru_cache(maxsize=1 << 12)
def _before_value(name: str, kind: int, size: int) -> bytes:
    """All that stands between one value and the next: the same for values of one size."""
    value = _header(1, size)
    values = _header(kind, len(value) + size) + value
    key = name.encode()
    entry = _header(1, len(key)) + key + _header(2, len(values) + size) + values
    return _header(1, len(entry) + size) + entry


@lru_cache(maxsize=1 << 14)
def _header(number: int, size: int) -> bytes:
    return bytes((number << 3 | _LENGTH_DELIMITED,)) + _varint(size)


def _varint(value: int) -> bytes:
    encoded = bytearray()
    while value >= 0x80:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def frame(record: bytes) -> bytes:
    """A record as it stands in a TFRecord file: length, its checksum, data, its checksum."""
    return b"".join((_frame_header(len(record)), record, _checksum(record)))


def frame_all(records: Sequence[bytes]) -> list[bytes]:
    """Records as they stand in a TFRecord file."""
    checksums = np.fromiter(map(google_crc32c.value, records), np.uint32, len(records))
    masked = _mask(checksums).astype(_CRC).tobytes()
    behind = [masked[start : start + _CRC.itemsize] for start in range(0, len(masked), 4)]
    headers = map(_frame_header, map(len, records))
    return list(map(b"".join, zip(headers, records, behind, strict=True)))


@lru_cache(maxsize=1 << 14)
def _frame_header(size: int) -> bytes:
    length = _LENGTH.pack(size)
    return length + _checksum(length)


def split_frames(frames: bytes) -> Iterator[bytes]:
    """Takes framed records that were joined apart again, frames and all."""
    start = 0
    while start < len(frames):
        (length,) = _LENGTH.unpack_from(frames, start)
        end = start + _HEADER_BYTES + length + _CRC.itemsize
        yield frames[start:end]
        start = end


def checksum_of_frame(framed: bytes) -> bytes:
    """The 4 bytes of the record's own checksum."""
    return framed[-_CRC.itemsize :]


def _checksum(data: bytes) -> bytes:
    return _mask(google_crc32c.value(data)).to_bytes(_CRC.itemsize, "little")


def _mask(checksums: Any) -> Any:
    """A checksum, or an array of them, as TFRecord stores it (tensorflow's crc32c.h)."""
    return (checksums >> 15 | checksums << 17) + 0xA282EAD8 & 0xFFFFFFFF

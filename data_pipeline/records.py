"""The TFRecords between the pipeline and the models: names, encoding, framing.

The one place where the feature names of a pair stand. Nothing here needs TensorFlow, so that
neither the launcher of the Beam job nor its workers wait for the import; a test reads the
records back with TensorFlow.
"""

import struct
from collections.abc import Iterator

import google_crc32c

INPUT = "input"
RESPONSE = "response"
INPUT_ID = "input_id"
RESPONSE_ID = "response_id"
THREAD_ID = "thread_id"
SUBREDDIT = "subreddit"
FEATURES = (INPUT, RESPONSE, INPUT_ID, RESPONSE_ID, THREAD_ID, SUBREDDIT)
"""The features of a pair, each one UTF-8 string."""

TRAIN_PATTERN = "train-*-of-*.tfrecord"
TEST_PATTERN = "test-*-of-*.tfrecord"

_LENGTH = struct.Struct("<Q")
_CRC = struct.Struct("<I")
_HEADER_BYTES = _LENGTH.size + _CRC.size
_LENGTH_DELIMITED = 2
"""The protocol buffer wire type of strings, bytes and nested messages."""


def encode_example(features: dict[str, str]) -> bytes:
    """Serializes a `tf.train.Example` that holds one UTF-8 string a feature."""
    entries = bytearray()
    for name, value in features.items():
        bytes_list = _field(1, value.encode())
        feature = _field(1, bytes_list)
        entries += _field(1, _field(1, name.encode()) + _field(2, feature))
    return _field(1, bytes(entries))


def _field(number: int, payload: bytes) -> bytes:
    return bytes((number << 3 | _LENGTH_DELIMITED,)) + _varint(len(payload)) + payload


def _varint(value: int) -> bytes:
    if value < 0x80:
        return bytes((value,))
    encoded = bytearray()
    while value >= 0x80:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def frame(record: bytes) -> bytes:
    """A record as it stands in a TFRecord file: length, its checksum, data, its checksum."""
    length = _LENGTH.pack(len(record))
    return b"".join((length, _masked_crc(length), record, _masked_crc(record)))


def split_frames(frames: bytes) -> Iterator[bytes]:
    """Takes framed records that were joined apart again, frames and all."""
    start = 0
    while start < len(frames):
        (length,) = _LENGTH.unpack_from(frames, start)
        end = start + _HEADER_BYTES + length + _CRC.size
        yield frames[start:end]
        start = end


def checksum_of_frame(framed: bytes) -> bytes:
    """The 4 bytes of the record's own checksum."""
    return framed[-_CRC.size :]


def _masked_crc(data: bytes) -> bytes:
    """The checksum as TFRecord stores it (tensorflow/core/lib/hash/crc32c.h)."""
    crc = google_crc32c.value(data)
    return _CRC.pack(((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)

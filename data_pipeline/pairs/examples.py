"""TFRecord files -> the strings of their `tf.train.Example`s: what `records` writes, read back.

Without TensorFlow, and without protocol buffers' code for the one message type. Everything that
a file says of itself is checked: both checksums of every record, and every length.
"""

import struct
from collections.abc import Collection, Iterable, Iterator

from data_pipeline.pairs.tfrecord import frame

_LENGTH = struct.Struct("<Q")
_BEFORE = 12
_BEHIND = 4
"""Bytes around a record: its length and that one's checksum, and its own checksum."""
_VARINT, _FIXED_64, _LENGTH_DELIMITED, _FIXED_32 = 0, 1, 2, 5
"""The protocol buffer wire types."""


def read_frames(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The records of a TFRecord file that comes in chunks of any size.

    Raises:
      ValueError: if a checksum is not as it must be.
      EOFError: if the file ends inside a record.
    """
    rest = bytearray()
    for chunk in chunks:
        rest += chunk
        start = 0
        while start + _BEFORE <= len(rest):
            (length,) = _LENGTH.unpack_from(rest, start)
            end = start + _BEFORE + length + _BEHIND
            if end > len(rest):
                break
            record = bytes(rest[start + _BEFORE : end - _BEHIND])
            if frame(record) != rest[start:end]:
                raise ValueError("the record does not fit its checksums")
            yield record
            start = end
        del rest[:start]
    if rest:
        raise EOFError("the file ends inside a record")


def decode_strings(example: bytes, names: Collection[str]) -> dict[str, bytes]:
    """Those of some features that hold one string: by name, its bytes.

    Raises:
      ValueError: if it is no `tf.train.Example`.
    """
    strings: dict[str, bytes] = {}
    for features in _nested(example, 1):
        for entry in _nested(features, 1):
            name = b"".join(_nested(entry, 1)).decode(errors="replace")
            if name in names:
                values = [
                    value
                    for feature in _nested(entry, 2)
                    for bytes_list in _nested(feature, 1)
                    for value in _nested(bytes_list, 1)
                ]
                if len(values) == 1:
                    strings[name] = values[0]
    return strings


def _nested(message: bytes, number: int) -> Iterator[bytes]:
    """The values of a field of strings or messages; other fields are passed over."""
    place = 0
    while place < len(message):
        tag, place = _varint(message, place)
        kind = tag & 7
        if kind == _VARINT:
            _, place = _varint(message, place)
        elif kind == _FIXED_64:
            place += 8
        elif kind == _FIXED_32:
            place += 4
        elif kind == _LENGTH_DELIMITED:
            size, place = _varint(message, place)
            if place + size <= len(message) and tag >> 3 == number:
                yield message[place : place + size]
            place += size
        else:
            raise ValueError(f"no tf.train.Example: wire type {kind}")
    if place > len(message):
        raise ValueError("no tf.train.Example: a field reaches beyond its end")


def _varint(message: bytes, place: int) -> tuple[int, int]:
    """A number, and the place behind it."""
    value = shift = 0
    while True:
        if place == len(message):
            raise ValueError("no tf.train.Example: a number has no end")
        byte = message[place]
        place += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, place
        shift += 7

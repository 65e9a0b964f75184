"""The schema of stored pairs, and TFRecord files of `tf.train.Example`s, without TensorFlow.

Importing TensorFlow takes 8 s, for which neither the launcher of the Beam job nor its workers
should wait. A test reads the records back with TensorFlow, which takes a .gz file that is cut off
for a whole one.

The encoder is written by hand because of its speed (`data_pipeline.pairs.shards`). The decoder uses
protocol buffers: 2.7 microseconds a pair.
"""

import struct
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import Any, TypeVar

import google_crc32c
import numpy as np
from google.protobuf import descriptor_pool, message_factory, text_format
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from google.protobuf.message import DecodeError

from common.errors import InputError, message_of
from common.text_files import opened

T = TypeVar("T")
Features = Mapping[str, Any]
"""Features of a `tf.train.Example` by name: those that hold one string, as UTF-8, or integer."""
INPUT = "input"
RESPONSE = "response"
INPUT_ID = "input_id"
RESPONSE_ID = "response_id"
THREAD_ID = "thread_id"
SUBREDDIT = "subreddit"
FEATURES = (INPUT, RESPONSE, INPUT_ID, RESPONSE_ID, THREAD_ID, SUBREDDIT)
"""The features of a pair, each one UTF-8 string."""
CONTEXT = "context/{}"
"""The context turns, where they were asked for: `context/0` is the one that the input replies to,
and so on; empty where the conversation has no more."""
OWN_REPLY = "own_reply"
"""Where authors are known: "true" if the response has the author of the input, "false", or empty
if one is unknown."""

PREMISE = "premise"
HYPOTHESIS = "hypothesis"
LABEL = "label"
PAIR_ID = "pair_id"
LABELS = ("entailment", "neutral", "contradiction")
"""The label of an NLI pair is an index into this tuple; its other features are strings."""
NO_LABEL = "-"  # as SNLI marks a pair on which its annotators do not agree
_MEANT: dict[str | int, str] = {name: name for name in (*LABELS, NO_LABEL)}
_MEANT |= {key(i): name for i, name in enumerate(LABELS) for key in (int, str)}
_MEANT |= dict.fromkeys((-1, "-1"), NO_LABEL)

TRAIN_PATTERN = "train-*-of-*.tfrecord"
GZIP_SUFFIX = ".gz"  # the last suffix of compressed files

_EXAMPLE_PROTO = """
name: "example.proto" package: "tensorflow" syntax: "proto3"
message_type { name: "Example"
  field { name: "features" number: 1 type: TYPE_MESSAGE type_name: ".tensorflow.Features" } }
message_type { name: "Features"
  field { name: "feature" number: 1 label: LABEL_REPEATED type: TYPE_MESSAGE
          type_name: ".tensorflow.Features.FeatureEntry" }
  nested_type { name: "FeatureEntry" options { map_entry: true }
    field { name: "key" number: 1 type: TYPE_STRING }
    field { name: "value" number: 2 type: TYPE_MESSAGE type_name: ".tensorflow.Feature" } } }
message_type { name: "Feature"
  field { name: "bytes_list" number: 1 type: TYPE_MESSAGE type_name: ".tensorflow.BytesList" }
  field { name: "int64_list" number: 3 type: TYPE_MESSAGE type_name: ".tensorflow.Int64List" } }
message_type { name: "BytesList"
  field { name: "value" number: 1 label: LABEL_REPEATED type: TYPE_BYTES } }
message_type { name: "Int64List"
  field { name: "value" number: 1 label: LABEL_REPEATED type: TYPE_INT64 } }
"""
"""tensorflow/core/example/{example,feature}.proto without lists of floats, as a descriptor."""
_CHUNK_BYTES = 1 << 20
_LENGTH = struct.Struct("<Q")
CRC = np.dtype("<u4")
_HEADER_BYTES = _LENGTH.size + CRC.itemsize
_LENGTH_DELIMITED = 2
"""The protocol buffer wire type of strings, bytes, nested messages and packed numbers."""
BYTES_LIST, _INT64_LIST = 1, 3  # the fields of `tf.train.Feature`


def label_of(value: Any) -> str:
    """The label, or `NO_LABEL`, of SNLI, or of Hugging Face, where it is a number; a ValueError."""
    if value not in _MEANT:
        accepted = f"{', '.join((*LABELS, NO_LABEL))}, or -1 to {len(LABELS) - 1}"
        raise ValueError(f"the gold_label is {value!r}; accepted: {accepted}")
    return _MEANT[value]


def encode_example(features: Mapping[str, str | bytes | int]) -> bytes:
    """Serializes a `tf.train.Example` that holds one string (UTF-8), bytes or integer a feature."""
    entries = b""
    for name, value in features.items():
        kind = _INT64_LIST if isinstance(value, int) else BYTES_LIST
        plain = value.encode() if isinstance(value, str) else value
        payload = _varint(plain) if isinstance(plain, int) else plain
        entries += before_value(name, kind, len(payload)) + payload
    return header(1, len(entries)) + entries


@lru_cache(maxsize=1 << 12)
def before_value(name: str, kind: int, size: int) -> bytes:
    """The bytes between one value and the next: the same for values of one size."""
    value = header(1, size)
    values = header(kind, len(value) + size) + value
    key = name.encode()
    entry = header(1, len(key)) + key + header(2, len(values) + size) + values
    return header(1, len(entry) + size) + entry


@lru_cache(maxsize=1 << 14)
def header(number: int, size: int) -> bytes:
    """The bytes before a field of this number and size."""
    return bytes((number << 3 | _LENGTH_DELIMITED,)) + _varint(size)


def _varint(value: int) -> bytes:
    encoded = bytearray()
    while value >= 0x80:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def frame(record: bytes) -> bytes:
    """A record as stored in a TFRecord file: length, its checksum, data, its checksum."""
    return frame_header(len(record)) + record + _checksum(record)


@lru_cache(maxsize=1 << 14)
def frame_header(size: int) -> bytes:
    """The bytes before a record of this size: the size, and its checksum."""
    length = _LENGTH.pack(size)
    return length + _checksum(length)


def _checksum(data: bytes) -> bytes:
    return mask(google_crc32c.value(data)).to_bytes(CRC.itemsize, "little")


def mask(checksums: Any) -> Any:
    """A checksum, or an array of them, masked as in TFRecord files (tensorflow's crc32c.h)."""
    return (checksums >> 15 | checksums << 17) + 0xA282EAD8 & 0xFFFFFFFF


def read_frames(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The records of a TFRecord file that comes in chunks of any size.

    Raises a ValueError if a checksum is wrong, and an EOFError if the file ends inside a record.
    """
    rest = bytearray()
    for chunk in chunks:
        rest += chunk
        start = 0
        while start + _HEADER_BYTES <= len(rest):
            (length,) = _LENGTH.unpack_from(rest, start)
            data = start + _HEADER_BYTES
            end = data + length + CRC.itemsize
            is_header = frame_header(length) == rest[start:data]
            if is_header and end > len(rest):
                break
            record = bytes(rest[data : end - CRC.itemsize])
            if not is_header or _checksum(record) != rest[end - CRC.itemsize : end]:
                raise ValueError("damaged, or no TFRecord file")
            yield record
            start = end
        del rest[:start]
    if rest:
        raise EOFError("the file ends inside a record")


def parse_records(path: Path, parse: Callable[[Features], T]) -> Iterator[T]:
    """What `parse` makes of the features of each record of a file, plain or `.gz`.

    Raises an InputError that names the record if it is damaged, or if `parse` raises anything.
    """
    number = 1
    try:
        with opened(path) as file:
            for record in read_frames(iter(partial(file.read, _CHUNK_BYTES), b"")):
                yield parse(decode_example(record))
                number += 1
    except Exception as error:
        raise InputError(f"{path}: record {number}: {message_of(error)}") from error


def decode_example(example: bytes) -> dict[str, bytes | int]:
    """The `Features` of an example; a ValueError if it is not a `tf.train.Example`."""
    try:
        features = _example_class().FromString(example).features.feature
    except DecodeError as error:
        raise ValueError(f"not a tf.train.Example: {error}") from error
    decoded = {}
    for name, feature in features.items():
        values = feature.bytes_list.value or feature.int64_list.value
        if len(values) == 1:
            decoded[name] = values[0]
    return decoded


@cache
def _example_class() -> Any:
    """The message class of `tf.train.Example`, of `_EXAMPLE_PROTO`.

    In a pool of its own, since TensorFlow registers the same name in the default one.
    """
    pool = descriptor_pool.DescriptorPool()
    pool.Add(text_format.Parse(_EXAMPLE_PROTO, FileDescriptorProto()))
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("tensorflow.Example"))

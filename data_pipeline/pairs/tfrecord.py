"""The schema of stored pairs, and TFRecord files of `tf.train.Example`s, without TensorFlow.

Importing TensorFlow takes 8 s, for which neither the launcher of the Beam job nor its workers
should wait. A test reads the records back with TensorFlow.

The encoder is written by hand because of its speed: 0.9 microseconds a pair, with its checksum,
against 11.1 with protocol buffers. The decoder uses protocol buffers: 2.7 microseconds.
"""

import struct
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache, partial
from typing import Any

import google_crc32c
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from google.protobuf import descriptor_pool, message_factory, text_format
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from google.protobuf.message import DecodeError

from data_pipeline.execution.columns import lengths_of

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

PREMISE = "premise"
HYPOTHESIS = "hypothesis"
LABEL = "label"
PAIR_ID = "pair_id"
LABELS = ("entailment", "neutral", "contradiction")
"""The label of an NLI pair is an index into this tuple; its other features are strings."""

TRAIN_PATTERN = "train-*-of-*.tfrecord"
GZIP_SUFFIX = ".gz"
"""The last suffix of compressed files."""

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


def encode_columns(names: Sequence[str], columns: Sequence[Any]) -> Any:
    """`encode_example` of each row of string columns, for millions of pairs.

    Args:
      names: of the features.
      columns: Arrow arrays of strings without nulls, [rows] each.

    Returns:
      An Arrow array of large_binary, [rows].
    """
    parts, size = [], np.zeros(len(columns[0]), np.int64)
    for name, column in zip(names, columns, strict=True):
        lengths = lengths_of(column)
        before = _of_sizes(partial(_before_value, name, _BYTES_LIST), lengths)
        parts += [before, column.cast(pa.large_binary())]
        size += lengths_of(before) + lengths
    return _joined(_of_sizes(partial(_header, 1), size), *parts)


def _of_sizes(make: Callable[[int], bytes], sizes: np.ndarray) -> Any:
    """The bytes that `make` gives for each of the sizes [rows], of which there are few."""
    distinct, which = np.unique(sizes, return_inverse=True)
    return pa.array(map(make, distinct.tolist()), pa.large_binary()).take(pa.array(which))


def _joined(*columns: Any) -> Any:
    return pc.binary_join_element_wise(*columns, pa.scalar(b"", pa.large_binary()))


@lru_cache(maxsize=1 << 12)
def _before_value(name: str, kind: int, size: int) -> bytes:
    """The bytes between one value and the next: the same for values of one size."""
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
    """A record as stored in a TFRecord file: length, its checksum, data, its checksum."""
    return b"".join((_frame_header(len(record)), record, _checksum(record)))


def frame_columns(names: Sequence[str], columns: Sequence[Any]) -> tuple[Any, np.ndarray]:
    """The rows of string columns, each as a record of a TFRecord file, and their checksums.

    Takes what `encode_columns` does; the checksums are uint32 [rows], as stored.
    """
    records = encode_columns(names, columns)
    values = map(google_crc32c.value, records.to_pylist())
    checksums = _mask(np.fromiter(values, np.uint32, len(records))).astype(_CRC)
    behind = pa.FixedSizeBinaryArray.from_buffers(
        pa.binary(_CRC.itemsize), len(records), [None, pa.py_buffer(checksums.tobytes())]
    )
    headers = _of_sizes(_frame_header, lengths_of(records))
    return _joined(headers, records, behind.cast(pa.large_binary())), checksums


@lru_cache(maxsize=1 << 14)
def _frame_header(size: int) -> bytes:
    length = _LENGTH.pack(size)
    return length + _checksum(length)


def frame_key(framed: bytes) -> bytes:
    """The sort key of a record in its file: its checksum, then all of it."""
    return framed[-_CRC.itemsize :] + framed


def _checksum(data: bytes) -> bytes:
    return _mask(google_crc32c.value(data)).to_bytes(_CRC.itemsize, "little")


def _mask(checksums: Any) -> Any:
    """A checksum, or an array of them, masked as in TFRecord files (tensorflow's crc32c.h)."""
    return (checksums >> 15 | checksums << 17) + 0xA282EAD8 & 0xFFFFFFFF


def read_frames(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The records of a TFRecord file that comes in chunks of any size.

    Raises:
      ValueError: if a checksum is wrong.
      EOFError: if the file ends inside a record.
    """
    rest = bytearray()
    for chunk in chunks:
        rest += chunk
        start = 0
        while start + _HEADER_BYTES <= len(rest):
            (length,) = _LENGTH.unpack_from(rest, start)
            end = start + _HEADER_BYTES + length + _CRC.itemsize
            if end > len(rest):
                break
            record = bytes(rest[start + _HEADER_BYTES : end - _CRC.itemsize])
            if frame(record) != rest[start:end]:
                raise ValueError("the record does not fit its checksums")
            yield record
            start = end
        del rest[:start]
    if rest:
        raise EOFError("the file ends inside a record")


def decode_example(example: bytes, names: Collection[str] | None = None) -> dict[str, bytes | int]:
    """The features of a serialized `tf.train.Example` that hold one string or integer.

    Only features with one of `names` are decoded, if they are given. Strings are UTF-8 bytes.

    Raises:
      ValueError: if it is not a `tf.train.Example`.
    """
    try:
        features = _example_class().FromString(example).features.feature
    except DecodeError as error:
        raise ValueError(f"not a tf.train.Example: {error}") from error
    decoded = {}
    for name in features if names is None else names:
        if name in features:
            values = features[name].bytes_list.value or features[name].int64_list.value
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

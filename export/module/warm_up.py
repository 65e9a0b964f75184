"""Warm-up requests, which TensorFlow Serving runs before it serves a module.

It reads them from `assets.extra/tf_serving_warmup_requests`: TFRecords of the protocol buffer
`tensorflow.serving.PredictionLog`. The messages are described here, with the field numbers of
prediction_log.proto, predict.proto and model.proto, to need no further package.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import tensorflow as tf
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from tensorflow.core.framework import tensor_pb2

from export.module.signatures import SIGNATURES

FILE = "tf_serving_warmup_requests"
MODEL_NAME = "module"
"""The server ignores it: only signature and inputs count."""
BATCHES = (1, 8, 64)
WORDS = (0, 4, 16, 200)
"""Lengths of the texts in a batch, in turn: empty, a phrase, a sentence, more than the maximum."""

_PACKAGE = "tensorflow.serving"
_TENSOR = "tensorflow.TensorProto"


class _Field(NamedTuple):
    name: str
    number: int
    kind: str = "string"
    """`string`, or the name of a message."""
    repeated: bool = False


_MESSAGES = {
    "ModelSpec": [_Field("name", 1), _Field("signature_name", 3)],
    "InputsEntry": [_Field("key", 1), _Field("value", 2, _TENSOR)],
    "PredictRequest": [
        _Field("model_spec", 1, f"{_PACKAGE}.ModelSpec"),
        # A map is encoded as its entries.
        _Field("inputs", 2, f"{_PACKAGE}.InputsEntry", repeated=True),
    ],
    "PredictLog": [_Field("request", 1, f"{_PACKAGE}.PredictRequest")],
    "PredictionLog": [_Field("predict_log", 6, f"{_PACKAGE}.PredictLog")],
}


def write(path: Path, signatures: Sequence[str]) -> None:
    """Writes the file: a request for each signature and batch size."""
    with tf.io.TFRecordWriter(str(path)) as records:
        for name in signatures:
            for size in BATCHES:
                records.write(request(name, size).SerializeToString())


def read(path: Path) -> Iterator[tuple[str, dict[str, tf.Tensor]]]:
    """Signature and arguments of each request."""
    for record in tf.data.TFRecordDataset(str(path)):
        request = _message("PredictionLog").FromString(record.numpy()).predict_log.request
        arguments = {
            entry.key: tf.constant(
                tf.make_ndarray(tensor_pb2.TensorProto.FromString(_bytes(entry.value)))
            )
            for entry in request.inputs
        }
        yield request.model_spec.signature_name, arguments


def texts(count: int) -> list[str]:
    """Texts of different lengths."""
    return [" ".join(["word"] * WORDS[place % len(WORDS)]) for place in range(count)]


def request(name: str, size: int) -> Any:
    """A `PredictionLog` with a request to a signature for a batch of a size."""
    log = _message("PredictionLog")()
    request = log.predict_log.request
    request.model_spec.name, request.model_spec.signature_name = MODEL_NAME, name
    for argument, tensor in SIGNATURES[name].inputs.items():
        count = tensor.shape[0] if isinstance(tensor.shape[0], int) else size
        value = tf.make_tensor_proto(texts(count), tensor.dtype)
        entry = request.inputs.add(key=argument)
        entry.value.ParseFromString(value.SerializeToString())
    return log


def _bytes(message: Any) -> bytes:
    return message.SerializeToString()


@cache
def _message(name: str) -> Any:
    """The class of a message of `_MESSAGES`."""
    return message_factory.GetMessageClass(_pool().FindMessageTypeByName(f"{_PACKAGE}.{name}"))


@cache
def _pool() -> descriptor_pool.DescriptorPool:
    """A separate pool: the server's own package registers the same names."""
    pool = descriptor_pool.DescriptorPool()
    tensor = tensor_pb2.TensorProto.DESCRIPTOR.file
    _add(pool, tensor)
    file = descriptor_pb2.FileDescriptorProto(
        name="prediction_log.proto", package=_PACKAGE, syntax="proto3", dependency=[tensor.name]
    )
    for name, fields in _MESSAGES.items():
        message = file.message_type.add(name=name)
        for field in fields:
            _describe(message.field.add(name=field.name, number=field.number), field)
    pool.Add(file)
    return pool


def _describe(described: descriptor_pb2.FieldDescriptorProto, field: _Field) -> None:
    kinds = descriptor_pb2.FieldDescriptorProto
    described.label = kinds.LABEL_REPEATED if field.repeated else kinds.LABEL_OPTIONAL
    described.type = kinds.TYPE_STRING if field.kind == "string" else kinds.TYPE_MESSAGE
    if field.kind != "string":
        described.type_name = f".{field.kind}"


def _add(pool: descriptor_pool.DescriptorPool, file: Any) -> None:
    """Adds a file and its dependencies."""
    for needed in file.dependencies:
        _add(pool, needed)
    copied = descriptor_pb2.FileDescriptorProto()
    file.CopyToProto(copied)
    pool.Add(copied)

"""Warm-up requests, which TensorFlow Serving runs before it serves a module.

It reads them from `assets.extra/tf_serving_warmup_requests`: TFRecords of `PredictionLog`.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import tensorflow as tf
from tensorflow_serving.apis.prediction_log_pb2 import PredictionLog

from export.module.signatures import SIGNATURES

FILE = "tf_serving_warmup_requests"
MODEL_NAME = "module"
"""The server ignores it: only signature and inputs count."""
BATCHES = (1, 8, 64)
WORDS = (0, 4, 16, 200)
"""Lengths of the texts in a batch, in turn: empty, a phrase, a sentence, more than the maximum."""


def write(path: Path, signatures: Sequence[str]) -> None:
    """Writes the file: a request for each signature and batch size."""
    with tf.io.TFRecordWriter(str(path)) as records:
        for name in signatures:
            for size in BATCHES:
                records.write(request(name, size).SerializeToString(deterministic=True))


def read(path: Path) -> Iterator[tuple[str, dict[str, tf.Tensor]]]:
    """Signature and arguments of each request."""
    for record in tf.data.TFRecordDataset(str(path)):
        found = PredictionLog.FromString(record.numpy()).predict_log.request
        arguments = {
            name: tf.constant(tf.make_ndarray(value)) for name, value in found.inputs.items()
        }
        yield found.model_spec.signature_name, arguments


def texts(count: int) -> list[str]:
    """Texts of different lengths."""
    return [" ".join(["word"] * WORDS[place % len(WORDS)]) for place in range(count)]


def request(name: str, size: int) -> PredictionLog:
    """A request to a signature for a batch of a size."""
    log = PredictionLog()
    found = log.predict_log.request
    found.model_spec.name, found.model_spec.signature_name = MODEL_NAME, name
    for argument, tensor in SIGNATURES[name].inputs.items():
        count = tensor.shape[0] if isinstance(tensor.shape[0], int) else size
        found.inputs[argument].CopyFrom(tf.make_tensor_proto(texts(count), tensor.dtype))
    return log

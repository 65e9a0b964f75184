"""Warm-up requests, which TensorFlow Serving runs before it serves a module.

It reads them from `assets.extra/tf_serving_warmup_requests`: TFRecords of `PredictionLog`.
"""

from collections.abc import Sequence
from itertools import product
from pathlib import Path

import tensorflow as tf
from tensorflow_serving.apis.prediction_log_pb2 import PredictionLog

from export.module.signatures import SIGNATURES

FILE = "tf_serving_warmup_requests"
BATCHES = (1, 8, 64)
WORDS = (0, 4, 16, 200)
"""Lengths of the texts in a batch, in turn: empty, a phrase, a sentence, more than the maximum."""


def write(path: Path, signatures: Sequence[str]) -> None:
    """Writes the file: a request for each signature and batch size."""
    with tf.io.TFRecordWriter(str(path)) as records:
        for name, size in product(signatures, BATCHES):
            log = PredictionLog()
            asked = log.predict_log.request
            # The server ignores the first: only signature and inputs count.
            asked.model_spec.name, asked.model_spec.signature_name = "module", name
            for argument, tensor in SIGNATURES[name].inputs.items():
                count = tensor.shape[0] if isinstance(tensor.shape[0], int) else size
                texts = [" ".join(["word"] * WORDS[place % len(WORDS)]) for place in range(count)]
                asked.inputs[argument].CopyFrom(tf.make_tensor_proto(texts, tensor.dtype))
            records.write(log.SerializeToString(deterministic=True))

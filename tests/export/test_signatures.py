"""Dtypes and shapes of the signatures, and the requests that warm them up."""

from pathlib import Path

import numpy as np
import tensorflow as tf
from tensorflow_serving.apis.prediction_log_pb2 import PredictionLog

from export import SIGNATURES

PAGE = (Path(__file__).parents[2] / "docs" / "modules.md").read_text()
ROWS = PAGE.partition("## Signatures")[2].partition("\n## ")[0].splitlines()


def test_signatures_are_those_of_the_documents(shared):
    module = tf.saved_model.load(str(shared / "module"))
    for name, signature in SIGNATURES.items():
        (row,) = (row for row in ROWS if row.startswith("|") and f"`{name}`" in row)
        for tensors, cell in zip(signature[:2], row.split("|")[2:4], strict=True):
            for argument, tensor in tensors.items():
                assert f"`{argument}`" in cell and str(tensor) in cell
    for name, traced in module.signatures.items():
        for output, tensor in SIGNATURES[name].outputs.items():
            found = traced.structured_outputs[output]
            assert (found.dtype, found.shape.rank) == (tensor.dtype, len(tensor.shape))


def test_warm_up_requests_run_against_the_signatures(shared):
    module = tf.saved_model.load(str(shared / "module"))
    requests = []
    path = shared / "module" / "assets.extra" / "tf_serving_warmup_requests"
    for record in tf.data.TFRecordDataset(str(path)):
        asked = PredictionLog.FromString(record.numpy()).predict_log.request
        texts = {name: tf.constant(tf.make_ndarray(value)) for name, value in asked.inputs.items()}
        requests.append((asked.model_spec.signature_name, texts))
    assert {name for name, _ in requests} == set(module.signatures)
    sizes, lengths = set(), set()
    for name, arguments in requests:
        taken = module.signatures[name].structured_input_signature[1]
        assert set(arguments) == set(taken)
        for outputs in module.signatures[name](**arguments).values():
            assert np.isfinite(outputs).all()
        for values in arguments.values():
            sizes.add(len(values))
            lengths |= {len(text.split()) for text in values.numpy()}
    assert sizes == {1, 8, 64}
    assert len(lengths) > 3

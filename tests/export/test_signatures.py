"""Names, dtypes and shapes of the signatures, and the requests that warm them up."""

import numpy as np
import tensorflow as tf

from export.module import warm_up
from export.module.signatures import SIGNATURES

TEXTS, EMBEDDINGS = "string [batch]", "float32 [batch, dim]"
EXPECTED = {
    "serving_default": ({"inputs": TEXTS}, {"outputs": EMBEDDINGS}),
    "encode_input": ({"inputs": TEXTS}, {"outputs": EMBEDDINGS}),
    "encode_input_in_context": ({"inputs": TEXTS, "context": TEXTS}, {"outputs": EMBEDDINGS}),
    "encode_response": ({"inputs": TEXTS}, {"outputs": EMBEDDINGS}),
    "similarity": (
        {"sentences1": TEXTS, "sentences2": TEXTS},
        {"angular": "float32 [batch]", "score": "float32 [batch]"},
    ),
    "rank_responses": (
        {"input": "string [1]", "responses": "string [n]"},
        {"scores": "float32 [n]"},
    ),
    "word_vectors": ({"inputs": TEXTS}, {"outputs": "float32 [batch, word_dim]"}),
    "classify_nli": (
        {"premise": TEXTS, "hypothesis": TEXTS},
        {"outputs": "float32 [batch, 3]"},
    ),
}


def test_every_signature_as_the_model_card_shows_it():
    shown = {
        name: tuple(
            {argument: str(tensor) for argument, tensor in tensors.items()}
            for tensors in (signature.inputs, signature.outputs)
        )
        for name, signature in SIGNATURES.items()
    }
    assert shown == EXPECTED
    assert list(shown) == list(EXPECTED)


def test_a_named_size_is_open_and_a_number_is_not():
    assert SIGNATURES["rank_responses"].specs() == [
        tf.TensorSpec([1], tf.string, name="input"),
        tf.TensorSpec([None], tf.string, name="responses"),
    ]


def test_warm_up_requests_run_against_the_signatures(shared):
    module = tf.saved_model.load(str(shared / "module"))
    requests = list(warm_up.read(shared / "module" / "assets.extra" / warm_up.FILE))
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


def test_a_request_is_for_the_signature_and_its_texts():
    found = warm_up.request("rank_responses", 8).predict_log.request
    assert found.model_spec.signature_name == "rank_responses"
    shapes = {name: tf.make_ndarray(texts).shape for name, texts in found.inputs.items()}
    assert shapes == {"input": (1,), "responses": (8,)}

"""Names, dtypes and shapes of the signatures: what serves a module relies on them."""

import tensorflow as tf

from export.module.signatures import SIGNATURES, Tensor

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
    for signature in SIGNATURES.values():
        assert signature.says
        assert all(tensor.says for tensor in [*signature.inputs.values()])
        assert all(tensor.says for tensor in [*signature.outputs.values()])


def test_a_named_size_is_open_and_a_number_is_not():
    assert SIGNATURES["rank_responses"].specs() == [
        tf.TensorSpec([1], tf.string, name="input"),
        tf.TensorSpec([None], tf.string, name="responses"),
    ]
    assert SIGNATURES["similarity"].specs() == [
        tf.TensorSpec([None], tf.string, name="sentences1"),
        tf.TensorSpec([None], tf.string, name="sentences2"),
    ]
    rows = Tensor(tf.float32, ("batch", 3), "rows")
    assert rows.spec("rows") == tf.TensorSpec([None, 3], tf.float32, name="rows")
    assert rows.spec("rows").name == "rows"

"""Names, dtypes and shapes of the module's signatures.

`hub_module` traces functions for them, the model card lists them, the warm-up requests follow them.
"""

from typing import NamedTuple

import tensorflow as tf

SERVING_DEFAULT, SIMILARITY, WORD_VECTORS = "serving_default", "similarity", "word_vectors"
ENCODE_INPUT, ENCODE_RESPONSE = "encode_input", "encode_response"
ENCODE_INPUT_IN_CONTEXT = "encode_input_in_context"
RANK_RESPONSES, CLASSIFY_NLI = "rank_responses", "classify_nli"


class Tensor(NamedTuple):
    """An argument or a result."""

    dtype: tf.DType
    shape: tuple[str | int, ...]  # sizes that differ between calls or modules are named
    says: str

    def spec(self, name: str) -> tf.TensorSpec:
        """The spec, with None for named sizes."""
        sizes = [size if isinstance(size, int) else None for size in self.shape]
        return tf.TensorSpec(sizes, self.dtype, name=name)

    def __str__(self) -> str:
        return f"{self.dtype.name} [{', '.join(map(str, self.shape))}]"


class Signature(NamedTuple):
    """Inputs, in the order of the arguments, outputs and a description."""

    inputs: dict[str, Tensor]
    outputs: dict[str, Tensor]
    says: str


def _texts(**says: str) -> dict[str, Tensor]:
    return {name: Tensor(tf.string, ("batch",), meaning) for name, meaning in says.items()}


def _floats(*shape: str | int, **says: str) -> dict[str, Tensor]:
    return {name: Tensor(tf.float32, shape, meaning) for name, meaning in says.items()}


SIGNATURES = {
    SERVING_DEFAULT: Signature(
        _texts(inputs="any text"),
        _floats("batch", "dim", outputs="embeddings of unit length"),
        "the same as calling the module",
    ),
    ENCODE_INPUT: Signature(
        _texts(inputs="any text"),
        _floats("batch", "dim", outputs="u, of unit length"),
        "encodes inputs for response selection; the same as the call unless components were "
        "removed or the module is tuned",
    ),
    ENCODE_INPUT_IN_CONTEXT: Signature(
        _texts(
            inputs="any text",
            context="the messages before each, in one text, the nearest first; or empty",
        ),
        _floats("batch", "dim", outputs="u in its context, of unit length"),
        "encodes inputs with the messages before them, for response selection",
    ),
    ENCODE_RESPONSE: Signature(
        _texts(inputs="any text"),
        _floats("batch", "dim", outputs="v', whose dot product with an input's u is its score"),
        "encodes responses for response selection",
    ),
    SIMILARITY: Signature(
        _texts(sentences1="any text", sentences2="the same number of texts"),
        _floats(
            "batch",
            angular="1 - arccos(cosine) / pi, in [0, 1]",
            score="5 (1 - arccos(cosine) / pi), in [0, 5]",
        ),
        "similarity of two sentences; `score` is on the scale of the STS Benchmark",
    ),
    RANK_RESPONSES: Signature(
        {
            "input": Tensor(tf.string, (1,), "the input"),
            "responses": Tensor(tf.string, ("n",), "candidate responses"),
        },
        _floats("n", scores="dot products u . v', the higher the better"),
        "scores candidate responses to one input",
    ),
    WORD_VECTORS: Signature(
        _texts(inputs="one or more words"),
        _floats("batch", "word_dim", outputs="mean of the words' vectors; 0 if there is no word"),
        "the encoder's word vectors",
    ),
    CLASSIFY_NLI: Signature(
        _texts(premise="any text", hypothesis="the same number of texts"),
        _floats("batch", 3, outputs="probabilities of entailment, neutral, contradiction"),
        "whether the premise entails the hypothesis",
    ),
}

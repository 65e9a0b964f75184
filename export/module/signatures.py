"""Names, dtypes and shapes of the module's signatures.

`hub_module` traces functions for them, the model card lists them, the warm-up requests follow them.
"""

from collections.abc import Sequence
from typing import NamedTuple

import tensorflow as tf

INPUTS, OUTPUTS = "inputs", "outputs"
SENTENCES1, SENTENCES2 = "sentences1", "sentences2"
ANGULAR, SCORE = "angular", "score"
CONTEXT = "context"
INPUT, RESPONSES, SCORES = "input", "responses", "scores"
PREMISE, HYPOTHESIS = "premise", "hypothesis"

SERVING_DEFAULT = "serving_default"
ENCODE_INPUT = "encode_input"
ENCODE_INPUT_IN_CONTEXT = "encode_input_in_context"
ENCODE_RESPONSE = "encode_response"
SIMILARITY = "similarity"
RANK_RESPONSES = "rank_responses"
WORD_VECTORS = "word_vectors"
CLASSIFY_NLI = "classify_nli"

BATCH, DIM, WORD_DIM, CANDIDATES = "batch", "dim", "word_dim", "n"
"""Names of sizes that differ between calls or modules."""


class Tensor(NamedTuple):
    """An argument or a result."""

    dtype: tf.DType
    shape: tuple[str | int, ...]
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

    def specs(self) -> list[tf.TensorSpec]:
        """The `input_signature` of `tf.function`."""
        return [tensor.spec(name) for name, tensor in self.inputs.items()]


def _texts(says: str) -> Tensor:
    return Tensor(tf.string, (BATCH,), says)


def _rows(says: str, size: str | int = DIM) -> Tensor:
    return Tensor(tf.float32, (BATCH, size), says)


_PAIRS = {SENTENCES1: _texts("any text"), SENTENCES2: _texts("the same number of texts")}

SIGNATURES = {
    SERVING_DEFAULT: Signature(
        {INPUTS: _texts("any text")},
        {OUTPUTS: _rows("embeddings of unit length")},
        "the same as calling the module",
    ),
    ENCODE_INPUT: Signature(
        {INPUTS: _texts("any text")},
        {OUTPUTS: _rows("u, of unit length")},
        "encodes inputs for response selection; the same as the call unless components were "
        "removed or the module is tuned",
    ),
    ENCODE_INPUT_IN_CONTEXT: Signature(
        {
            INPUTS: _texts("any text"),
            CONTEXT: _texts("the messages before each, in one text, the nearest first; or empty"),
        },
        {OUTPUTS: _rows("u in its context, of unit length")},
        "encodes inputs with the messages before them, for response selection",
    ),
    ENCODE_RESPONSE: Signature(
        {INPUTS: _texts("any text")},
        {OUTPUTS: _rows("v', whose dot product with an input's u is its score")},
        "encodes responses for response selection",
    ),
    SIMILARITY: Signature(
        _PAIRS,
        {
            ANGULAR: Tensor(tf.float32, (BATCH,), "1 - arccos(cosine) / pi, in [0, 1]"),
            SCORE: Tensor(tf.float32, (BATCH,), "5 (1 - arccos(cosine) / pi), in [0, 5]"),
        },
        "similarity of two sentences; `score` is on the scale of the STS Benchmark",
    ),
    RANK_RESPONSES: Signature(
        {
            INPUT: Tensor(tf.string, (1,), "the input"),
            RESPONSES: Tensor(tf.string, (CANDIDATES,), "candidate responses"),
        },
        {SCORES: Tensor(tf.float32, (CANDIDATES,), "dot products u . v', the higher the better")},
        "scores candidate responses to one input",
    ),
    WORD_VECTORS: Signature(
        {INPUTS: _texts("one or more words")},
        {OUTPUTS: _rows("mean of the words' vectors; 0 if there is no word", WORD_DIM)},
        "the encoder's word vectors",
    ),
    CLASSIFY_NLI: Signature(
        {PREMISE: _texts("any text"), HYPOTHESIS: _texts("the same number of texts")},
        {OUTPUTS: _rows("probabilities of entailment, neutral, contradiction", 3)},
        "whether the premise entails the hypothesis",
    ),
}


def require_shapes(name: str, texts: Sequence[tf.Tensor]) -> list[tf.Tensor]:
    """The same texts, with an error at run time if their shapes do not fit the signature.

    TensorFlow checks no shapes of what a signature is given, neither in Python nor in a server:
    without this, all but the first input would be ignored, or one text compared with all others.

    Args:
      name: of the signature.
      texts: its arguments in their order, string vectors.
    """
    inputs = SIGNATURES[name].inputs
    # At run time a shape may differ from that in the graph: only this operation checks it.
    texts = [
        tf.ensure_shape(text, tensor.spec(argument).shape, name=f"{name}_{argument}")
        for text, (argument, tensor) in zip(texts, inputs.items(), strict=True)
    ]
    if len({tensor.shape for tensor in inputs.values()}) == len(texts):
        return texts
    sizes = [tf.size(text) for text in texts]
    says = f"{name} takes as many {' as '.join(inputs)}; given:"
    equal = tf.raw_ops.Assert(condition=tf.equal(*sizes), data=[says, *sizes])
    with tf.control_dependencies([equal]):
        return [tf.identity(text) for text in texts]

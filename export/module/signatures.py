"""Names, dtypes and shapes of the module's signatures: defined here, once.

`hub_module` traces by them, the model card shows them, the warm-up requests are made of them.
"""

from typing import NamedTuple

import tensorflow as tf

INPUTS, OUTPUTS = "inputs", "outputs"
SENTENCES1, SENTENCES2 = "sentences1", "sentences2"
ANGULAR, SCORE = "angular", "score"
INPUT, RESPONSES, SCORES = "input", "responses", "scores"
PREMISE, HYPOTHESIS = "premise", "hypothesis"

SERVING_DEFAULT = "serving_default"
ENCODE_INPUT = "encode_input"
ENCODE_RESPONSE = "encode_response"
SIMILARITY = "similarity"
RANK_RESPONSES = "rank_responses"
WORD_VECTORS = "word_vectors"
CLASSIFY_NLI = "classify_nli"

BATCH, DIM, WORD_DIM, CANDIDATES = "batch", "dim", "word_dim", "n"
"""Sizes that are not the same everywhere; a number is one that is."""


class Tensor(NamedTuple):
    """An argument or a result."""

    dtype: tf.DType
    shape: tuple[str | int, ...]
    says: str

    def spec(self, name: str) -> tf.TensorSpec:
        """With every named size left open."""
        sizes = [size if isinstance(size, int) else None for size in self.shape]
        return tf.TensorSpec(sizes, self.dtype, name=name)

    def __str__(self) -> str:
        return f"{self.dtype.name} [{', '.join(map(str, self.shape))}]"


class Signature(NamedTuple):
    """What a signature takes and gives, in the order of its arguments."""

    inputs: dict[str, Tensor]
    outputs: dict[str, Tensor]
    says: str

    def specs(self) -> list[tf.TensorSpec]:
        """For `tf.function`."""
        return [tensor.spec(name) for name, tensor in self.inputs.items()]


def _texts(says: str) -> Tensor:
    return Tensor(tf.string, (BATCH,), says)


def _rows(says: str, size: str | int = DIM) -> Tensor:
    return Tensor(tf.float32, (BATCH, size), says)


_PAIRS = {SENTENCES1: _texts("any text"), SENTENCES2: _texts("as many")}

SIGNATURES = {
    SERVING_DEFAULT: Signature(
        {INPUTS: _texts("any text")},
        {OUTPUTS: _rows("embeddings of unit length")},
        "the same as calling the module",
    ),
    ENCODE_INPUT: Signature(
        {INPUTS: _texts("any text")},
        {OUTPUTS: _rows("u, of unit length")},
        "the input side of response selection; without a tuned matrix the same as the call",
    ),
    ENCODE_RESPONSE: Signature(
        {INPUTS: _texts("any text")},
        {OUTPUTS: _rows("v', whose dot product with an input's u is its score")},
        "the response side of response selection",
    ),
    SIMILARITY: Signature(
        _PAIRS,
        {
            ANGULAR: Tensor(tf.float32, (BATCH,), "1 - arccos(cosine) / pi, in [0, 1]"),
            SCORE: Tensor(tf.float32, (BATCH,), "5 (1 - arccos(cosine) / pi), in [0, 5]"),
        },
        "how alike two sentences are; `score` is on the scale of the STS Benchmark",
    ),
    RANK_RESPONSES: Signature(
        {
            INPUT: Tensor(tf.string, (1,), "what was said"),
            RESPONSES: Tensor(tf.string, (CANDIDATES,), "what might be replied"),
        },
        {SCORES: Tensor(tf.float32, (CANDIDATES,), "dot products u . v', the higher the better")},
        "scores candidate responses to one input",
    ),
    WORD_VECTORS: Signature(
        {INPUTS: _texts("a word, or several")},
        {OUTPUTS: _rows("mean of the word table's rows; 0 without a word", WORD_DIM)},
        "what the encoder knows of words by themselves",
    ),
    CLASSIFY_NLI: Signature(
        {PREMISE: _texts("any text"), HYPOTHESIS: _texts("as many")},
        {OUTPUTS: _rows("probabilities of entailment, neutral, contradiction", 3)},
        "whether the premise entails the hypothesis",
    ),
}

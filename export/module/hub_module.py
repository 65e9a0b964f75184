"""The module that is exported: its signatures and parts.

A reusable SavedModel (https://www.tensorflow.org/hub/reusable_saved_models): the root is
callable on strings, has `variables`, `trainable_variables` and `regularization_losses`, and
needs nothing of this project: only `import tensorflow_text`, whose ops its text handling uses.
"""

import math
from collections.abc import Callable

import numpy as np
import tensorflow as tf

from export import FLOAT32
from export.module import weights
from export.module.parts import (
    DEFAULT,
    SENTENCES,
    TRAINING,
    Encoder,
    KeptLayer,
    Part,
    Preprocessor,
    ResponseEncoder,
)
from export.module.signatures import (
    ANGULAR,
    CLASSIFY_NLI,
    ENCODE_INPUT,
    ENCODE_INPUT_IN_CONTEXT,
    ENCODE_RESPONSE,
    OUTPUTS,
    RANK_RESPONSES,
    SCORE,
    SCORES,
    SERVING_DEFAULT,
    SIGNATURES,
    SIMILARITY,
    WORD_VECTORS,
    require_shapes,
)
from model.configs import schema
from model.dual_encoder import DualEncoder
from model.layers import nli_head
from model.text.preprocessing import PADDING, WORDS, TextToIds, has_words

Outputs = dict[str, tf.Tensor]


class HubModule(Part):
    """Sentences, string [batch] -> embeddings, float32 [batch, dim], each of unit length.

    One finite row for every input, whatever its bytes; a row does not depend on the others.
    Text is truncated to the model's `max_tokens`. Parts: `preprocessor`, `encoder` and, if the
    model was trained on conversations, `response_encoder`. `encode_response` and `rank_responses`
    need a model trained on conversations, `encode_input_in_context` one with `context_turns`,
    `classify_nli` one trained on NLI.

    Args:
      model: the trained model.
      text: its text handling.
      variant: one of `export.VARIANTS`.
      components: float32 [dim, count] with orthonormal columns, or None. They are removed from u,
        except in `encode_input` and in the signatures of the trained tasks.
      sts_matrix: float32 [dim, dim], or None. Embeddings are then multiplied by it, except there.
    """

    def __init__(
        self,
        model: DualEncoder,
        text: TextToIds,
        *,
        variant: str = FLOAT32,
        components: np.ndarray | None = None,
        sts_matrix: np.ndarray | None = None,
    ):
        reads_words = schema.NLI in model.heads and model.nli_head.reads_words
        layer = model.encoder.for_export(keeps_word_vectors=reads_words)
        encoder = weights.keep(layer, variant)
        random = layer.random_state
        super().__init__(encoder, random=random)
        self.variant = variant
        self.preprocessor = Preprocessor(text)
        self.encoder = Encoder(encoder, text, random=random)
        self.regularization_losses: list[Callable[[], tf.Tensor]] = []
        self._vectors_of_words = encoder.word_vectors
        self.components = None
        if components is not None:
            self.components = tf.Variable(components, trainable=False, name="components")
            self.variables.append(self.components)
        self.sts_matrix = None
        if sts_matrix is not None:
            self.sts_matrix = tf.Variable(sts_matrix, dtype=tf.float32, name="sts_matrix")
            self.variables.append(self.sts_matrix)
            self.trainable_variables.append(self.sts_matrix)
        heads: dict[str, Callable[..., Outputs]] = {
            SERVING_DEFAULT: lambda inputs: {OUTPUTS: self._finished(self._encode(inputs))},
            ENCODE_INPUT: lambda inputs: {OUTPUTS: self._encode(inputs)},
            SIMILARITY: self._similarity,
            WORD_VECTORS: self._word_vectors,
        }
        if schema.RESPONSE_SELECTION in model.heads:
            network = weights.keep(model.response_network, variant)
            self.response_encoder = ResponseEncoder(encoder, network, text, random=random)
            heads[ENCODE_RESPONSE] = lambda inputs: {OUTPUTS: self._encode_responses(inputs)}
            heads[RANK_RESPONSES] = self._rank
        if model.reads_context:
            joined = weights.keep(model.context_network, variant)
            self.context_network = Part(joined)
            heads[ENCODE_INPUT_IN_CONTEXT] = lambda inputs, context: {
                OUTPUTS: self._in_context(inputs, context, network=joined)
            }
        if schema.NLI in model.heads:
            head = weights.keep(model.nli_head, variant)
            self.nli_head = Part(head)
            heads[CLASSIFY_NLI] = lambda premise, hypothesis: {
                OUTPUTS: nli_head.probabilities(head(*map(self._side, (premise, hypothesis))))
            }
        self.heads: dict[str, Callable[..., Outputs]] = {
            name: _traced(name, head) for name, head in heads.items()
        }
        """The signatures."""

    @tf.function(input_signature=[SENTENCES, TRAINING], autograph=False)
    def __call__(self, sentences: tf.Tensor, training: bool | tf.Tensor = False) -> tf.Tensor:
        """Embeds sentences: string [batch] -> float32 [batch, dim]."""
        return self._finished(self._encode(sentences, training))

    def save(self, folder: str) -> None:
        """Writes the SavedModel."""
        tf.saved_model.save(self, folder, signatures=dict(self.heads))

    def _encode(self, sentences: tf.Tensor, training: bool | tf.Tensor = False) -> tf.Tensor:
        """u: string [batch] -> float32 [batch, dim]."""
        return self.encoder.encode(self.preprocessor(sentences), training)[DEFAULT]

    def _finished(self, u: tf.Tensor) -> tf.Tensor:
        """Removes the components and applies the matrix: float32 [batch, dim] -> the same."""
        if self.components is None and self.sts_matrix is None:
            return u
        if self.components is not None:
            shares = tf.matmul(u, self.components)
            u -= tf.matmul(shares, self.components, transpose_b=True)
        if self.sts_matrix is not None:
            u = tf.matmul(u, self.sts_matrix)
        return tf.math.l2_normalize(u, axis=-1)

    def _in_context(
        self, inputs: tf.Tensor, context: tf.Tensor, *, network: KeptLayer
    ) -> tf.Tensor:
        """Inputs with the messages before them: string [batch] twice -> float32 [batch, dim]."""
        ids = self.preprocessor(context)
        embeddings = self.encoder.encode(ids, False)[DEFAULT]
        return network(self._encode(inputs), embeddings, has_words(ids))

    def _encode_responses(self, sentences: tf.Tensor) -> tf.Tensor:
        """v': string [batch] -> float32 [batch, dim]."""
        return self.response_encoder.encode(self.preprocessor(sentences), False)[DEFAULT]

    def _similarity(self, sentences1: tf.Tensor, sentences2: tf.Tensor) -> Outputs:
        """Equation 2 of the first version of the paper: string [batch] twice -> float32 [batch]."""
        first, second = (self._finished(self._encode(side)) for side in (sentences1, sentences2))
        cosine = tf.reduce_sum(first * second, axis=-1)
        # Rounding can exceed [-1, 1], where arccos is NaN.
        angular = 1 - tf.acos(tf.clip_by_value(cosine, -1.0, 1.0)) / math.pi
        return {ANGULAR: angular, SCORE: 5 * angular}

    def _rank(self, input: tf.Tensor, responses: tf.Tensor) -> Outputs:  # noqa: A002
        """Dot products (section 2.2), without the scale, which does not change the order."""
        scores = tf.linalg.matvec(self._encode_responses(responses), self._encode(input)[0])
        return {SCORES: scores}

    def _side(self, sentences: tf.Tensor) -> nli_head.Side:
        """What the NLI classifier needs of one sentence of each pair: string [batch]."""
        ids = self.preprocessor(sentences)
        return nli_head.side(
            self.encoder.encode(ids, False)[DEFAULT], ids[WORDS], self._vectors_of_words
        )

    def _word_vectors(self, inputs: tf.Tensor) -> Outputs:
        """Means of word vectors, without the end mark, the last id of each row."""
        words = self.preprocessor(inputs)[WORDS]
        following = tf.pad(words[:, 1:], [[0, 0], [0, 1]], constant_values=PADDING)
        real = tf.cast(following != PADDING, tf.float32)[:, :, tf.newaxis]
        total = tf.reduce_sum(self._vectors_of_words(words) * real, axis=1)
        return {OUTPUTS: tf.math.divide_no_nan(total, tf.reduce_sum(real, axis=1))}


def _traced(name: str, head: Callable[..., Outputs]) -> Callable[..., Outputs]:
    """The head as a `tf.function` with the inputs and outputs of the signature of that name."""
    signature = SIGNATURES[name]

    def checked(*texts: tf.Tensor) -> Outputs:
        return head(*require_shapes(name, texts))

    traced = tf.function(checked, input_signature=signature.specs(), autograph=False)
    found = traced.get_concrete_function().structured_outputs
    for output, tensor in signature.outputs.items():
        if found[output].dtype != tensor.dtype or found[output].shape.rank != len(tensor.shape):
            raise TypeError(f"{name}: {output} is {found[output]}, not {tensor}")
    return traced

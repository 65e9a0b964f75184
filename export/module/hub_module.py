"""The module that is exported: its signatures and parts.

A reusable SavedModel (https://www.tensorflow.org/hub/reusable_saved_models): the root is
callable on strings, has `variables`, `trainable_variables` and `regularization_losses`, and
needs nothing of this project: only `import tensorflow_text`, whose ops its text handling uses.
"""

import math
from collections.abc import Callable
from functools import partial

import numpy as np
import tensorflow as tf

from export import FLOAT32
from export.module import signatures as names
from export.module.parts import DEFAULT, SENTENCES, TRAINING, Encoder, Part, Preprocessor
from export.module.weights import Kept
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
        encoder = Kept(layer, variant)
        random = layer.random_state
        super().__init__(encoder, random=random)
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
        heads: dict[str, Callable[..., tf.Tensor | Outputs]] = {
            names.SERVING_DEFAULT: lambda inputs: self._finished(self._encode(inputs)),
            names.ENCODE_INPUT: self._encode,
            names.SIMILARITY: self._similarity,
            names.WORD_VECTORS: self._word_vectors,
        }
        if schema.RESPONSE_SELECTION in model.heads:
            network = Kept(model.response_network, variant)
            self.response_encoder = Encoder(encoder, text, network=network, random=random)
            heads[names.ENCODE_RESPONSE] = self._encode_responses
            heads[names.RANK_RESPONSES] = self._rank
        if model.reads_context:
            joined = Kept(model.context_network, variant)
            self.context_network = Part(joined)
            heads[names.ENCODE_INPUT_IN_CONTEXT] = partial(self._in_context, joined)
        if schema.NLI in model.heads:
            head = Kept(model.nli_head, variant)
            self.nli_head = Part(head)
            heads[names.CLASSIFY_NLI] = lambda *pair: nli_head.probabilities(
                head(*map(self._side, pair))
            )
        self.heads = {name: _traced(name, head) for name, head in heads.items()}
        """The signatures."""

    @tf.function(input_signature=[SENTENCES, TRAINING], autograph=False)
    def __call__(self, sentences: tf.Tensor, training: bool | tf.Tensor = False) -> tf.Tensor:
        """Embeds sentences: string [batch] -> float32 [batch, dim]."""
        return self._finished(self._encode(sentences, training))

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

    def _in_context(self, network: Kept, inputs: tf.Tensor, context: tf.Tensor) -> tf.Tensor:
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
        return {"angular": angular, "score": 5 * angular}

    def _rank(self, input: tf.Tensor, responses: tf.Tensor) -> Outputs:  # noqa: A002
        """Dot products (section 2.2), without the scale, which does not change the order."""
        scores = tf.linalg.matvec(self._encode_responses(responses), self._encode(input)[0])
        return {"scores": scores}

    def _side(self, sentences: tf.Tensor) -> nli_head.Side:
        """What the NLI classifier needs of one sentence of each pair: string [batch]."""
        ids = self.preprocessor(sentences)
        u = self.encoder.encode(ids, False)[DEFAULT]
        return nli_head.side(u, ids[WORDS], self._vectors_of_words)

    def _word_vectors(self, inputs: tf.Tensor) -> tf.Tensor:
        """Means of word vectors, without the end mark, the last id of each row."""
        words = self.preprocessor(inputs)[WORDS]
        following = tf.pad(words[:, 1:], [[0, 0], [0, 1]], constant_values=PADDING)
        real = tf.cast(following != PADDING, tf.float32)[:, :, tf.newaxis]
        total = tf.reduce_sum(self._vectors_of_words(words) * real, axis=1)
        return tf.math.divide_no_nan(total, tf.reduce_sum(real, axis=1))


def _traced(
    name: str, head: Callable[..., tf.Tensor | Outputs]
) -> tf.types.experimental.PolymorphicFunction:
    """The head as a `tf.function` with the inputs and outputs of the signature of that name.

    TensorFlow checks no shapes of what a signature is given, neither in Python nor in a server:
    without checks, all but the first input would be ignored, or one text compared with all others.
    """
    inputs = names.SIGNATURES[name].inputs
    must_be_equal = len({tensor.shape for tensor in inputs.values()}) < len(inputs)

    def checked(*given: tf.Tensor) -> Outputs:
        # At run time a shape may differ from that in the graph: only this operation checks it.
        texts = [
            tf.ensure_shape(text, tensor.spec(argument).shape, name=f"{name}_{argument}")
            for text, (argument, tensor) in zip(given, inputs.items(), strict=True)
        ]
        if must_be_equal:
            sizes = [tf.size(text) for text in texts]
            says = f"{name} takes as many {' as '.join(inputs)}; given:"
            equal = tf.raw_ops.Assert(condition=tf.equal(*sizes), data=[says, *sizes])
            with tf.control_dependencies([equal]):
                texts = [tf.identity(text) for text in texts]
        found = head(*texts)
        return found if isinstance(found, dict) else {"outputs": found}

    specs = [tensor.spec(argument) for argument, tensor in inputs.items()]
    return tf.function(checked, input_signature=specs, autograph=False)

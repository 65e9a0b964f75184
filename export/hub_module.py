"""The module that teams downstream load, and its contract.

A reusable SavedModel (https://www.tensorflow.org/hub/reusable_saved_models): the root is
callable on strings, has `variables`, `trainable_variables` and `regularization_losses`, and
needs nothing of this project: only `import tensorflow_text`, whose ops its text handling uses.
"""

from collections.abc import Callable

import tensorflow as tf

from model import configs
from model.dual_encoder import DualEncoder
from model.text import TextToIds

INPUTS = "inputs"
OUTPUTS = "outputs"
SERVING_DEFAULT = "serving_default"
ENCODE_RESPONSE = "encode_response"
CLASSIFY_NLI = "classify_nli"
PREMISE = "premise"
HYPOTHESIS = "hypothesis"

_SENTENCES = tf.TensorSpec([None], tf.string, name=INPUTS)
_PAIRS = [tf.TensorSpec([None], tf.string, name=name) for name in (PREMISE, HYPOTHESIS)]


class HubModule(tf.train.Checkpoint):
    """Sentences, string [batch] -> embeddings, float32 [batch, dim], each of unit length.

    One finite row for every input, whatever its bytes; a row does not depend on the others.
    Text beyond the model's `max_tokens` is cut off. What a model was not trained for it has no
    signature for: `encode_response` needs response selection, `classify_nli` inference.
    """

    def __init__(self, model: DualEncoder, text: TextToIds):
        super().__init__(preprocessor=text, model=model)
        # What a gradient from __call__ reaches; the response network is not among it.
        self.variables = model.encoder.variables
        self.trainable_variables = model.encoder.trainable_variables
        self.regularization_losses: list[Callable[[], tf.Tensor]] = []
        self.heads: dict[str, Callable[..., dict[str, tf.Tensor]]] = {}
        """The signatures besides `serving_default`."""
        if configs.RESPONSE_SELECTION in model.heads:
            self.heads[ENCODE_RESPONSE] = tf.function(self._encode_response, [_SENTENCES])
        if configs.INFERENCE in model.heads:
            self.heads[CLASSIFY_NLI] = tf.function(self._classify_nli, _PAIRS)

    @tf.function
    def __call__(self, sentences: tf.Tensor, training: bool = False) -> tf.Tensor:
        """Embeds sentences: string [batch] -> float32 [batch, dim]."""
        return self.model.encode_inputs(self.preprocessor(sentences), training=training)

    @tf.function(input_signature=[_SENTENCES])
    def serving_default(self, inputs: tf.Tensor) -> dict[str, tf.Tensor]:
        """The same as `__call__`, named as the Universal Sentence Encoder names it."""
        return {OUTPUTS: self(inputs)}

    def _encode_response(self, inputs: tf.Tensor) -> dict[str, tf.Tensor]:
        """Responses as the score sees them: its dot product with an input's embedding."""
        return {OUTPUTS: self.model.encode_responses(self.preprocessor(inputs))}

    def _classify_nli(self, premise: tf.Tensor, hypothesis: tf.Tensor) -> dict[str, tf.Tensor]:
        """Probabilities of entailment, neutral and contradiction: float32 [batch, 3]."""
        logits = self.model.classify(self.preprocessor(premise), self.preprocessor(hypothesis))
        return {OUTPUTS: tf.nn.softmax(logits)}

    def save(self, folder: str) -> None:
        """Writes the SavedModel, with `__call__` traced for both values of `training`."""
        for training in (False, True):
            self.__call__.get_concrete_function(_SENTENCES, training=training)
        signatures = {SERVING_DEFAULT: self.serving_default, **self.heads}
        tf.saved_model.save(self, folder, signatures=signatures)

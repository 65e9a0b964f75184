"""The parts of the module, each callable by itself, with variables of its own.

Text handling runs on a CPU only. Where the encoder is to run elsewhere, or in a `tf.data`
pipeline ahead of it, the parts can be used one by one:

    ids = module.preprocessor(sentences)
    embeddings = module.encoder(ids)["default"]
"""

from collections.abc import Iterable

import tensorflow as tf

from export.module.weights import AsTrained, Narrowed
from model.layers import xla
from model.text.preprocessing import BIGRAMS, WORDS, TextToIds

DEFAULT = "default"

SENTENCES = tf.TensorSpec([None], tf.string, name="sentences")
IDS = {kind: tf.TensorSpec([None, None], tf.int32, name=kind) for kind in (WORDS, BIGRAMS)}
TRAINING = tf.TensorSpec([], tf.bool, name="training")
"""A tensor, so that one trace has both ways: a Python bool would make two for every shape."""

KeptLayer = AsTrained | Narrowed


class Part(tf.train.Checkpoint):
    """Something callable that a SavedModel keeps: its functions and variables, nothing else."""

    def __init__(self, *layers: KeptLayer, random: Iterable[tf.Module] = ()):
        super().__init__()
        self.variables = _each_once(layer.variables for layer in layers)
        self.trainable_variables = [weight for weight in self.variables if weight.trainable]
        self.random_state = list(random)
        """What dropout draws from."""


class Preprocessor(Part):
    """Strings to ids; has no variables, and can be mapped over a `tf.data.Dataset` of batches."""

    def __init__(self, text: TextToIds):
        super().__init__()
        self.lookup_tables = text.lookup_tables
        self._text = AsTrained(text)  # a SavedModel keeps its function, not Keras's layer

    @tf.function(input_signature=[SENTENCES])
    def __call__(self, sentences: tf.Tensor) -> dict[str, tf.Tensor]:
        """String [batch] -> int32 [batch, tokens] `words` and `bigrams`, 0 behind their end."""
        return self._text(sentences)


class Encoder(Part):
    """Ids to embeddings.

    Its result is a dict: `default`, float32 [batch, dim], of unit length; from sequence encoders
    also `sequence_output`, float32 [batch, tokens, hidden], and `mask`, bool [batch, tokens],
    true where there is a token.
    """

    def __init__(self, layer: KeptLayer, *, random: Iterable[tf.Module]):
        super().__init__(layer, random=random)
        self._layer = layer

    @tf.function(input_signature=[IDS, TRAINING])
    def __call__(
        self, ids: dict[str, tf.Tensor], training: bool | tf.Tensor = False
    ) -> dict[str, tf.Tensor]:
        """Int32 [batch, tokens] `words` and `bigrams` -> `default`, and what else there is."""
        with xla.traced(xla.BOTH):
            return self.encode(ids, training)

    def encode(self, ids: dict[str, tf.Tensor], training: bool | tf.Tensor) -> dict[str, tf.Tensor]:
        """The same, inside another function; a Python bool leaves out what is not done."""
        return self._layer(ids, training=training)


class ResponseEncoder(Part):
    """Ids of responses to v', whose dot product with an input's embedding is its score."""

    def __init__(self, encoder: KeptLayer, network: KeptLayer, *, random: Iterable[tf.Module]):
        super().__init__(encoder, network, random=random)
        self._encoder, self._network = encoder, network

    @tf.function(input_signature=[IDS, TRAINING])
    def __call__(
        self, ids: dict[str, tf.Tensor], training: bool | tf.Tensor = False
    ) -> dict[str, tf.Tensor]:
        """Int32 [batch, tokens] `words` and `bigrams` -> `default`, float32 [batch, dim]."""
        with xla.traced(xla.BOTH):
            return self.encode(ids, training)

    def encode(self, ids: dict[str, tf.Tensor], training: bool | tf.Tensor) -> dict[str, tf.Tensor]:
        """The same, inside another function; a Python bool leaves out what is not done."""
        return {DEFAULT: self._network(self._encoder(ids, training=training)[DEFAULT])}


def _each_once(lists: Iterable[list[tf.Variable]]) -> list[tf.Variable]:
    found = {weight.ref(): weight for some in lists for weight in some}
    return list(found.values())

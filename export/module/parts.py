"""The parts of the module, each callable on its own, with its own variables.

Text preprocessing runs on the CPU only. To run the encoder on another device, or preprocessing in
a `tf.data` pipeline, use the parts one by one:

    ids = module.preprocessor(sentences)
    embeddings = module.encoder(ids)["default"]
"""

from collections.abc import Callable, Iterable

import tensorflow as tf

from export.module.weights import AsTrained, Narrowed
from model.text.preprocessing import TextToIds

DEFAULT = "default"

SENTENCES = tf.TensorSpec([None], tf.string, name="sentences")
TRAINING = tf.TensorSpec([], tf.bool, name="training")
"""A tensor, so that one trace serves both: a Python bool would cause two for every shape."""

KeptLayer = AsTrained | Narrowed


class Part(tf.train.Checkpoint):
    """What a SavedModel keeps of a callable: its functions and variables."""

    def __init__(self, *layers: KeptLayer, random: Iterable[tf.Module] = ()):
        super().__init__()
        self.variables = _each_once(layer.variables for layer in layers)
        self.trainable_variables = [weight for weight in self.variables if weight.trainable]
        self.random_state = list(random)
        """The state of dropout's random numbers."""


class Preprocessor(Part):
    """Strings to ids; no variables; can be mapped over a `tf.data.Dataset` of batches."""

    def __init__(self, text: TextToIds):
        super().__init__()
        self.lookup_tables = text.lookup_tables
        self._text = AsTrained(text)  # a SavedModel keeps its function, not Keras's layer

    @tf.function(input_signature=[SENTENCES], autograph=False)
    def __call__(self, sentences: tf.Tensor) -> dict[str, tf.Tensor]:
        """String [batch] -> int32 [batch, tokens] `words` and the model's other kinds, 0-padded."""
        return self._text(sentences)


def _traced(
    encode: Callable[[dict[str, tf.Tensor], tf.Tensor], dict[str, tf.Tensor]], text: TextToIds
) -> tf.types.experimental.PolymorphicFunction:
    """A function of the ids that a text handling makes.

    It is an attribute of an instance, since its signature has the kinds of ids of one text.
    """
    ids = {kind: tf.TensorSpec([None, None], tf.int32, name=kind) for kind in text.table_sizes}
    return tf.function(encode, input_signature=[ids, TRAINING], autograph=False)


class Encoder(Part):
    """Ids to embeddings.

    Its result is a dict: `default`, float32 [batch, dim], of unit length; from sequence encoders
    also `sequence_output`, float32 [batch, tokens, hidden], and `mask`, bool [batch, tokens],
    true where there is a token.
    """

    def __init__(self, layer: KeptLayer, text: TextToIds, *, random: Iterable[tf.Module]):
        super().__init__(layer, random=random)
        self._layer = layer
        self.__call__ = _traced(self.encode, text)  # type: ignore[method-assign]

    def __call__(
        self, ids: dict[str, tf.Tensor], training: bool | tf.Tensor = False
    ) -> dict[str, tf.Tensor]:
        """Int32 [batch, tokens] of each kind -> `default` and the sequence outputs."""
        return vars(self)["__call__"](ids, training)

    def encode(
        self, ids: dict[str, tf.Tensor], training: bool | tf.Tensor = False
    ) -> dict[str, tf.Tensor]:
        """The same inside another function; a Python bool for `training` prunes the graph."""
        return self._layer(ids, training=training)


class ResponseEncoder(Part):
    """Ids of responses to v'; its dot product with an input's embedding is the score."""

    def __init__(
        self,
        encoder: KeptLayer,
        network: KeptLayer,
        text: TextToIds,
        *,
        random: Iterable[tf.Module],
    ):
        super().__init__(encoder, network, random=random)
        self._encoder, self._network = encoder, network
        self.__call__ = _traced(self.encode, text)  # type: ignore[method-assign]

    def __call__(
        self, ids: dict[str, tf.Tensor], training: bool | tf.Tensor = False
    ) -> dict[str, tf.Tensor]:
        """Int32 [batch, tokens] of each kind -> `default`, float32 [batch, dim]."""
        return vars(self)["__call__"](ids, training)

    def encode(
        self, ids: dict[str, tf.Tensor], training: bool | tf.Tensor = False
    ) -> dict[str, tf.Tensor]:
        """The same inside another function; a Python bool for `training` prunes the graph."""
        return {DEFAULT: self._network(self._encoder(ids, training=training)[DEFAULT])}


def _each_once(lists: Iterable[list[tf.Variable]]) -> list[tf.Variable]:
    found = {weight.ref(): weight for some in lists for weight in some}
    return list(found.values())

"""The parts of the module, each callable on its own, with its own variables.

Text preprocessing runs on the CPU only. To run the encoder on another device, or preprocessing in
a `tf.data` pipeline, use the parts one by one:

    ids = module.preprocessor(sentences)
    embeddings = module.encoder(ids)["default"]
"""

from collections.abc import Iterable

import tensorflow as tf

from export.module.weights import Kept
from model.text.preprocessing import TextToIds

DEFAULT = "default"

SENTENCES = tf.TensorSpec([None], tf.string, name="sentences")
TRAINING = tf.TensorSpec([], tf.bool, name="training")
"""A tensor, so that one trace serves both: a Python bool would cause two for every shape."""


class Part(tf.train.Checkpoint):
    """What a SavedModel keeps of a callable: its functions and variables."""

    def __init__(self, *layers: Kept, random: Iterable[tf.Module] = ()):
        super().__init__()
        weights = {weight.ref(): weight for layer in layers for weight in layer.variables}
        self.variables = list(weights.values())
        self.trainable_variables = [weight for weight in self.variables if weight.trainable]
        self.random_state = list(random)
        """The state of dropout's random numbers."""


class Preprocessor(Part):
    """Strings to ids; no variables; can be mapped over a `tf.data.Dataset` of batches."""

    def __init__(self, text: TextToIds):
        super().__init__()
        self.lookup_tables = text.lookup_tables
        # A SavedModel keeps its function, not Keras's layer.
        self._text = text.__call__

    @tf.function(input_signature=[SENTENCES], autograph=False)
    def __call__(self, sentences: tf.Tensor) -> dict[str, tf.Tensor]:
        """String [batch] -> int32 [batch, tokens] `words` and the model's other kinds, 0-padded."""
        return self._text(sentences)


class Encoder(Part):
    """Ids to embeddings.

    Its result is a dict: `default`, float32 [batch, dim], of unit length; from sequence encoders
    also `sequence_output`, float32 [batch, tokens, hidden], and `mask`, bool [batch, tokens],
    true where there is a token. With the response `network` it is `default` alone, v', whose dot
    product with an input's embedding is the score.
    """

    def __init__(
        self,
        layer: Kept,
        text: TextToIds,
        *,
        network: Kept | None = None,
        random: Iterable[tf.Module],
    ):
        super().__init__(*filter(None, (layer, network)), random=random)
        self._layer, self._network = layer, network
        # Of an instance, since its signature has the kinds of ids of one text.
        ids = {kind: tf.TensorSpec([None, None], tf.int32, name=kind) for kind in text.table_sizes}
        self.__call__ = tf.function(  # type: ignore[method-assign]
            self.encode, input_signature=[ids, TRAINING], autograph=False
        )

    def __call__(
        self, ids: dict[str, tf.Tensor], training: bool | tf.Tensor = False
    ) -> dict[str, tf.Tensor]:
        """Int32 [batch, tokens] of each kind -> `default` and the sequence outputs."""
        return vars(self)["__call__"](ids, training)

    def encode(
        self, ids: dict[str, tf.Tensor], training: bool | tf.Tensor = False
    ) -> dict[str, tf.Tensor]:
        """The same inside another function; a Python bool for `training` prunes the graph."""
        found = self._layer(ids, training=training)
        return {DEFAULT: self._network(found[DEFAULT])} if self._network else found

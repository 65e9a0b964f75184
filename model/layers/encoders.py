"""Sentence encoders: what they have in common, and how a configuration names one.

A module of your own adds one with `register_encoder`: docs/training.md has an example.
"""

import importlib
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from typing import Protocol, TypeAlias, TypeVar

import tensorflow as tf
import tf_keras
from official.modeling import hyperparams

from common.errors import reading
from model.configs import schema
from model.layers import embedding
from model.layers.dropout import random_state
from model.text import BIGRAMS, CHAR_NGRAMS, WORDS
from model.text.preprocessing import TextToIds

_LAYERS: dict[str, type["SentenceEncoder"]] = {}
"""The layer of each `encoder.type`."""
_Layer = TypeVar("_Layer", bound=type["SentenceEncoder"])

Pooled: TypeAlias = Callable[[dict[str, embedding.Bags], tf.Tensor], tf.Tensor]
"""Ids of each kind and the number of texts -> sums of their vectors, float32 [texts, dim]."""


class Pool(Protocol):
    """Reads tables for this replica's texts, as `model.gradients.Step` does."""

    def sums(self, pooled: Pooled, bags: dict[str, embedding.Bags], count: tf.Tensor) -> tf.Tensor:
        """What `pooled` returns."""

    def rows(self, vectors: Callable[[tf.Tensor], tf.Tensor], ids: tf.Tensor) -> tf.Tensor:
        """What `vectors` returns for ids, int32 [n]: float32 [n, dim]."""


POOL: ContextVar[Pool | None] = ContextVar("POOL", default=None)
"""Set in training with several replicas, each a thread."""


class SentenceEncoder(tf_keras.layers.Layer):
    """Base of all encoders: ids -> a sentence embedding of unit length.

    `call(ids, training=False)` takes the ids that `TextToIds` makes, int32 [batch, tokens] `words`
    and, if there are any, `bigrams` and `char_ngrams`, and returns a dict whose `default` is
    float32 [batch, embedding_dim]. A sequence encoder adds `sequence_output`, [batch, tokens,
    hidden], and `mask`, bool [batch, tokens], true where there is a word.

    A subclass takes keyword arguments only: `table_sizes`, the number of ids of each kind, and
    the fields of its configuration, which Keras keeps for `get_config`. It sets `embedding_dim` and
    has `tables`.
    """

    embedding_dim: int
    encodes_together = False
    """Whether inputs, responses and contexts are encoded in one batch: where a word that several
    texts have costs less and padding nothing."""

    @property
    def tables(self) -> dict[str, tf.Variable]:
        """The vectors of each kind of ids: [ids, dim]."""
        raise NotImplementedError

    @property
    def shared_tables(self) -> list[tf.Variable]:
        """Those of which replicas share the columns in training (`model.columns`)."""
        return []

    def word_vectors(self, ids: tf.Tensor) -> tf.Tensor:
        """Ids of words, int32 [any shape] -> their vectors, [that shape, dim]."""
        return tf.cast(embedding.rows(self.tables[WORDS], ids), self.compute_dtype)

    def use_text(self, text: TextToIds) -> None:
        """Takes from the preprocessing what the encoder has to know of its vocabulary."""

    def for_export(self, *, keeps_word_vectors: bool = False) -> "SentenceEncoder":
        """An encoder with the same values as this one, as a module shall have it.

        Args:
          keeps_word_vectors: whether `word_vectors` too must be the same.
        """
        return self

    def make_variables(self) -> None:
        """Makes the variables by a call on one id, and puts dropout's state in checkpoints."""
        one_id = tf.ones([1, 1], tf.int32)
        self({WORDS: one_id, BIGRAMS: one_id, CHAR_NGRAMS: one_id})
        self.random_state = random_state(self)


def register_encoder(name: str, config: type[hyperparams.Config]) -> Callable[[_Layer], _Layer]:
    """Makes a subclass of `SentenceEncoder` a choice of `task.model.encoder.type`.

    Args:
      name: the value of `type`, and of the section with the parameters.
      config: a dataclass of the parameters, each with a default. The layer gets them as keyword
        arguments, with `table_sizes`.

    Raises:
      ValueError: if `name` is taken or `config` is not a `hyperparams.Config`.
      TypeError: if a parameter of `config` lacks a default, or the class `tables`, without which it
        cannot be exported.
    """

    def register(layer: _Layer) -> _Layer:
        if layer.tables is SentenceEncoder.tables:
            raise TypeError(
                f"{layer.__name__} has no property `tables`: the vectors of the ids of each kind, "
                "such as {'words': self.words.embeddings}"
            )
        default = config()
        is_config = isinstance(default, hyperparams.Config) and name.isidentifier()
        is_free = type(getattr(schema.Encoder(), name, default)) is config and name not in _LAYERS
        if not (is_config and is_free):
            raise ValueError(
                f"encoder {name!r} with config {config!r}; accepted: a name that is free, and a "
                "dataclass that extends official.modeling.hyperparams.Config"
            )
        schema.ENCODERS[name], _LAYERS[name] = config, layer
        return layer

    return register


def build(config: schema.Encoder, table_sizes: dict[str, int]) -> SentenceEncoder:
    """The encoder that `config.type` names, its variables made; table sizes include the padding."""
    encoder = _LAYERS[config.type](table_sizes=table_sizes, **config.get().as_dict())
    encoder.make_variables()
    return encoder


def import_modules(names: Iterable[str]) -> None:
    """Imports the modules that register encoders."""
    for name in names:
        with reading(f"--import_module: {name!r}"):
            importlib.import_module(name)

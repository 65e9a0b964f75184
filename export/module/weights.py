"""Formats of a layer's weights in a module: float32 as trained, or fewer bits.

| variant | tables of vectors | other weights | computed in |
|---|---|---|---|
| float32 | float32 | float32 | float32 |
| bfloat16, float16 | the same 16 bits | the same 16 bits | float32 |
| int8 | int8, a float32 scale a row | float32 | float32 |

Only those rows of a table that a batch needs are converted to float32. int8 rows cannot be trained.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import tensorflow as tf
import tf_keras

from common.errors import InputError
from export import FLOAT32, INT8
from model.text.preprocessing import PADDING, WORDS

_LARGEST = 127
_LEAST_SCALE = 1e-30


class Half(tf.train.Checkpoint):
    """A trainable weight in 16 bits."""

    def __init__(self, weight: tf.Variable, dtype: tf.DType):
        super().__init__()
        self._kept = tf.Variable(
            tf.cast(weight, dtype), trainable=weight.trainable, name=_name(weight)
        )
        self.variables = [self._kept]

    def whole(self) -> tf.Tensor:
        """The whole weight: float32, of its shape."""
        return tf.cast(self._kept, tf.float32)

    def rows(self, ids: tf.Tensor) -> tf.Tensor:
        """int32 [any shape] -> float32 [that shape, dim]."""
        return tf.cast(tf.gather(self._kept, ids), tf.float32)


class Int8(tf.train.Checkpoint):
    """A table in 8 bits: each row is a scale times integers in [-127, 127]."""

    def __init__(self, table: tf.Variable):
        super().__init__()
        largest = tf.reduce_max(tf.abs(table), axis=1, keepdims=True)
        scale = tf.maximum(largest / _LARGEST, _LEAST_SCALE)
        integers = tf.cast(tf.round(table / scale), tf.int8)
        self._kept = tf.Variable(integers, trainable=False, name=_name(table))
        self._scale = tf.Variable(scale, trainable=False, name=f"{_name(table)}_scale")
        self.variables = [self._kept, self._scale]

    def rows(self, ids: tf.Tensor) -> tf.Tensor:
        """int32 [any shape] -> float32 [that shape, dim]."""
        return tf.cast(tf.gather(self._kept, ids), tf.float32) * tf.gather(self._scale, ids)


class AsTrained:
    """A layer with its weights unchanged."""

    def __init__(self, layer: tf_keras.layers.Layer):
        self._layer = layer
        self.variables = list(layer.variables)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the layer."""
        return self._layer(*args, **kwargs)

    def word_vectors(self, ids: tf.Tensor) -> tf.Tensor:
        """Ids of words, int32 [any shape] -> float32 [that shape, word_dim]."""
        return self._layer.word_vectors(ids)


class Narrowed:
    """A layer that computes in float32 with weights of fewer bits.

    Args:
      layer: a built layer; an encoder if it has `tables`.
      variant: one of `export.VARIANTS` besides float32.
    """

    def __init__(self, layer: tf_keras.layers.Layer, variant: str):
        self._layer = layer
        tables = getattr(layer, "tables", {})
        names = {table.ref(): kind for kind, table in tables.items()}
        self._tables: dict[str, Half | Int8] = {}
        self._weights: dict[Any, Half] = {}
        self.variables: list[tf.Variable] = []
        for weight in layer.variables:
            kept = _kept(weight, variant, is_table=weight.ref() in names)
            if kept is None:
                self.variables.append(weight)
                continue
            self.variables += kept.variables
            if weight.ref() in names:
                self._tables[names[weight.ref()]] = kept
            else:
                self._weights[weight.ref()] = kept

    def __call__(self, inputs: Any, *others: Any, **kwargs: Any) -> Any:
        """Calls the layer; an encoder's `inputs` are ids."""
        values = {ref: kept.whole() for ref, kept in self._weights.items()}
        if self._tables:
            inputs = dict(inputs)
            for kind, kept in self._tables.items():
                inputs[kind], needed = _numbered_anew(inputs[kind])
                values[self._layer.tables[kind].ref()] = kept.rows(needed)
        with _in_place_of_weights(self._layer, values):
            return self._layer(inputs, *others, **kwargs)

    def word_vectors(self, ids: tf.Tensor) -> tf.Tensor:
        """Ids of words, int32 [any shape] -> float32 [that shape, word_dim]."""
        return self._tables[WORDS].rows(ids)


def keep(layer: tf_keras.layers.Layer, variant: str) -> AsTrained | Narrowed:
    """The layer with its weights in the format of a variant."""
    return AsTrained(layer) if variant == FLOAT32 else Narrowed(layer, variant)


def _kept(weight: tf.Variable, variant: str, *, is_table: bool) -> Half | Int8 | None:
    """What replaces a weight; None if it stays unchanged."""
    if variant == INT8:
        return Int8(weight) if is_table else None
    return Half(weight, tf.as_dtype(variant)) if weight.dtype == tf.float32 else None


def _name(weight: tf.Variable) -> str:
    """The weight's name for the variable that replaces it."""
    return weight.name.removesuffix(":0")


def _numbered_anew(ids: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """The batch renumbered by its distinct ids, and these, `PADDING` first."""
    flat = tf.concat([[PADDING], tf.reshape(ids, [-1])], axis=0)
    needed, places = tf.unique(flat)
    return tf.reshape(places[1:], tf.shape(ids)), needed


@contextmanager
def _in_place_of_weights(layer: tf_keras.layers.Layer, values: dict[Any, tf.Tensor]) -> Iterator:
    """While a graph is traced, replaces weights of the layer and its sublayers with tensors."""
    places = [
        (vars(part), name, weight)
        for part in (layer, *layer.submodules)
        for name, weight in vars(part).items()
        if isinstance(weight, tf.Variable) and weight.ref() in values
    ]
    if missing := values.keys() - {weight.ref() for _, _, weight in places}:
        names = ", ".join(sorted(ref.deref().name for ref in missing))
        raise InputError(
            f"--variant: the weights {names} are in no attribute of {layer.name}; accepted: "
            "float32 and int8, or an encoder whose weights are attributes of it and its layers"
        )
    try:
        for attributes, name, weight in places:
            attributes[name] = values[weight.ref()]
        yield
    finally:
        for attributes, name, weight in places:
            attributes[name] = weight

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


class Narrow(tf.train.Checkpoint):
    """A weight in 16 bits or, of int8, a table whose rows are integers times a scale each.

    Args:
      weight: float32; of int8 [rows, dim].
      dtype: of 16 bits, or int8, whose integers are in [-127, 127] and cannot be trained.
    """

    def __init__(self, weight: tf.Variable, dtype: tf.DType):
        super().__init__()
        name, values, trainable = weight.name.removesuffix(":0"), weight, weight.trainable
        self._scale = None
        if dtype == tf.int8:
            largest = tf.reduce_max(tf.abs(weight), axis=1, keepdims=True)
            scale = tf.maximum(largest / _LARGEST, _LEAST_SCALE)
            values, trainable = tf.round(weight / scale), False
            self._scale = tf.Variable(scale, trainable=False, name=f"{name}_scale")
        self._kept = tf.Variable(tf.cast(values, dtype), trainable=trainable, name=name)
        self.variables = [self._kept] + ([] if self._scale is None else [self._scale])

    def whole(self) -> tf.Tensor:
        """A weight of 16 bits: float32, of its shape."""
        return tf.cast(self._kept, tf.float32)

    def rows(self, ids: tf.Tensor) -> tf.Tensor:
        """int32 [any shape] -> float32 [that shape, dim]."""
        rows = tf.cast(tf.gather(self._kept, ids), tf.float32)
        return rows if self._scale is None else rows * tf.gather(self._scale, ids)


class Kept:
    """A layer that computes in float32 with its weights in the format of a variant.

    Args:
      layer: a built layer; an encoder if it has `tables`.
      variant: one of `export.VARIANTS`.
    """

    def __init__(self, layer: tf_keras.layers.Layer, variant: str):
        self._layer = layer
        tables = getattr(layer, "tables", {})
        names = {table.ref(): kind for kind, table in tables.items()}
        self._tables: dict[str, Narrow] = {}
        self._weights: dict[Any, Narrow] = {}
        self.variables: list[tf.Variable] = []
        for weight in layer.variables:
            kind, kept = names.get(weight.ref()), None
            if variant == INT8:
                kept = Narrow(weight, tf.int8) if kind else None
            elif variant != FLOAT32 and weight.dtype == tf.float32:
                kept = Narrow(weight, tf.as_dtype(variant))
            self.variables += kept.variables if kept else [weight]
            if kept and kind:
                self._tables[kind] = kept
            elif kept:
                self._weights[weight.ref()] = kept

    def __call__(self, inputs: Any, *others: Any, **kwargs: Any) -> Any:
        """Calls the layer; an encoder's `inputs` are ids."""
        values = {ref: kept.whole() for ref, kept in self._weights.items()}
        if self._tables:
            inputs = dict(inputs)
            for kind, kept in self._tables.items():
                # The batch is numbered anew by its distinct ids, `PADDING` first.
                flat = tf.concat([[PADDING], tf.reshape(inputs[kind], [-1])], axis=0)
                needed, places = tf.unique(flat)
                inputs[kind] = tf.reshape(places[1:], tf.shape(inputs[kind]))
                values[self._layer.tables[kind].ref()] = kept.rows(needed)
        with _in_place_of_weights(self._layer, values):
            return self._layer(inputs, *others, **kwargs)

    def word_vectors(self, ids: tf.Tensor) -> tf.Tensor:
        """Ids of words, int32 [any shape] -> float32 [that shape, word_dim]."""
        kept = self._tables.get(WORDS)
        return kept.rows(ids) if kept else self._layer.word_vectors(ids)


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

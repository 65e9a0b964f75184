"""Signatures refuse texts whose shapes do not fit together, inside the graph.

TensorFlow checks no shapes of what a signature is given, neither in Python nor in a server: the
first row was taken, or one row compared with all.
"""

from collections.abc import Sequence

import tensorflow as tf

from export.module.signatures import SIGNATURES


def require(name: str, texts: Sequence[tf.Tensor]) -> list[tf.Tensor]:
    """The same texts; if they are of other shapes than a signature takes, an error instead.

    Args:
      name: of the signature.
      texts: its arguments in their order, string vectors.
    """
    inputs = SIGNATURES[name].inputs
    # At run time a shape may be another than the graph says: only this operation looks.
    texts = [
        tf.ensure_shape(text, tensor.spec(argument).shape, name=f"{name}_{argument}")
        for text, (argument, tensor) in zip(texts, inputs.items(), strict=True)
    ]
    if len({tensor.shape for tensor in inputs.values()}) == len(texts):
        return texts
    sizes = [tf.size(text) for text in texts]
    says = f"{name} takes as many {' as '.join(inputs)}; given:"
    equal = tf.raw_ops.Assert(condition=tf.equal(*sizes), data=[says, *sizes])
    with tf.control_dependencies([equal]):
        return [tf.identity(text) for text in texts]

"""Two ways to compute the same: XLA (`jit_compile=True`, TPUs) lacks kernels for the fast one.

A function that is compiled when it is traced, as in training, takes the way for XLA. An exported
function is traced once, before anyone compiles it, so it holds both ways.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import tensorflow as tf
from tensorflow.python.ops.control_flow_util import GraphOrParentsInXlaContext

NORMAL, DENSE, BOTH = "normal", "dense", "both"
_way = ContextVar("way", default=NORMAL)


@contextmanager
def traced(way: str) -> Iterator[None]:
    """Graphs traced in this context take `DENSE`, or hold `BOTH`."""
    token = _way.set(way)
    try:
        yield
    finally:
        _way.reset(token)


def way() -> str:
    """The way that the graph being traced takes."""
    # TPU strategies and `jit_compile=True` trace in such a context. TensorFlow has no public name
    # for it; Keras asks the same function.
    compiles = GraphOrParentsInXlaContext(tf.compat.v1.get_default_graph())
    return DENSE if compiles else _way.get()


def choose(normal: Callable[[], Any], dense: Callable[[], Any]) -> Any:
    """Returns what one of the two functions returns.

    Where the graph holds both, the gradient of neither may need its intermediate values:
    TensorFlow passes those on by operations that XLA has no kernels for.
    """
    if way() == NORMAL:
        return normal()
    if way() == DENSE:
        return dense()
    # To XLA a device is none of these: it compiles the default and nothing else.
    # (`execute_fn_for_device` would lose operations that have effects alone.)
    device = tf.raw_ops.DeviceIndex(device_names=["CPU", "GPU"])
    return tf.switch_case(device, [normal, normal], default=dense)

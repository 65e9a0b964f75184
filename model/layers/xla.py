"""Two ways to compute the same: XLA (`jit_compile=True`, TPUs) lacks kernels of the fast one.

A function that is compiled as it is traced, as in training, takes the way for XLA. An exported
function is traced once, long before anybody compiles it: it holds both ways.
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
    """While a graph is made: it takes `DENSE`, or holds `BOTH`."""
    token = _way.set(way)
    try:
        yield
    finally:
        _way.reset(token)


def way() -> str:
    """The way that the graph takes which is being made."""
    # TPU strategies and `jit_compile=True` trace in such a context.
    compiles = GraphOrParentsInXlaContext(tf.compat.v1.get_default_graph())
    return DENSE if compiles else _way.get()


def choose(normal: Callable[[], Any], dense: Callable[[], Any]) -> Any:
    """What one of the two gives.

    Where the graph holds both, neither may need the values on its way for its gradient:
    TensorFlow hands them on by operations that XLA has no kernels for.
    """
    if way() == NORMAL:
        return normal()
    if way() == DENSE:
        return dense()
    # To XLA a device is none of these: it compiles the default and nothing else.
    # (`execute_fn_for_device` would lose operations that have effects alone.)
    device = tf.raw_ops.DeviceIndex(device_names=["CPU", "GPU"])
    return tf.switch_case(device, [normal, normal], default=dense)

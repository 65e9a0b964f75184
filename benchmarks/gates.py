"""What ELU gates cost: Keras's LSTM with each reading of section 3.2.2, against a fused kernel.

    python -m benchmarks.gates --rounds 5

Forward and backward pass of one layer of 300 units on 32 sentences of 16 words, on one core. The
fused kernel is TensorFlow's `BlockLSTMV2`, which has sigmoid and tanh only; Keras loops on a CPU.
All take turns, so that other load on the machine affects them alike.
"""

import argparse
import itertools
import os
import statistics
import time
from collections.abc import Callable

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import tensorflow as tf
from tabulate import tabulate

from benchmarks.options import at_least
from model.sts_regression.layers.lstm import GATES, lstm

FUSED = "fused kernel (BlockLSTMV2), sigmoid and tanh"
Step = Callable[[], object]


def main() -> None:
    """Measures, prints."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--units", type=at_least(1), default=300, metavar="N")
    parser.add_argument("--words", type=at_least(1), default=16, metavar="N")
    parser.add_argument("--batch", type=at_least(1), default=32, metavar="N")
    parser.add_argument("--rounds", type=at_least(1), default=5, metavar="N")
    parser.add_argument("--steps", type=at_least(1), default=10, metavar="N", help="in each round")
    arguments = parser.parse_args()
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    inputs = tf.random.stateless_normal(
        [arguments.batch, arguments.words, arguments.units], [0, 1], stddev=0.4
    )
    steps = keras(inputs) | {FUSED: fused(inputs)}
    spent: dict[str, list[float]] = {name: [] for name in steps}
    for number in range(arguments.rounds + 1):
        for name, step in steps.items():
            began = time.perf_counter()
            for _ in range(arguments.steps):
                step()
            if number:  # the first one traces
                spent[name].append(1e3 * (time.perf_counter() - began) / arguments.steps)
    medians = {name: statistics.median(times) for name, times in spent.items()}
    rows = [(name, value, value / medians[FUSED]) for name, value in medians.items()]
    print(tabulate(rows, ("", "ms a batch", "of the fused"), floatfmt=("", ".1f", ".2f")))


def differentiated(outputs: Callable[[], tf.Tensor], weights: list[tf.Variable]) -> Step:
    """A forward and a backward pass."""

    @tf.function
    def step() -> object:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(outputs()))
        return tape.gradient(loss, weights)

    return step


def keras(inputs: tf.Tensor) -> dict[str, Step]:
    """Keras's layer with all gates."""
    steps = {}
    for gates in GATES:
        if gates != "elu":  # whose numbers grow without bounds
            layer = lstm(
                inputs.shape[2],
                gates=gates,
                recurrent_initializer="HeNormal",
                seeds=itertools.count(),
            )
            layer.build(inputs.shape)
            steps[f"Keras, {gates}"] = differentiated(
                lambda layer=layer: layer(inputs)[:, -1], layer.trainable_variables
            )
    return steps


def fused(inputs: tf.Tensor) -> Step:
    """TensorFlow's kernel for all steps at once."""
    batch, words, units = inputs.shape
    by_time = tf.transpose(inputs, [1, 0, 2])
    kernel = tf.Variable(tf.random.stateless_normal([2 * units, 4 * units], [2, 3], stddev=0.05))
    bias = tf.Variable(tf.zeros(4 * units))
    zeros, peepholes = tf.zeros([batch, units]), tf.zeros([units])

    def outputs() -> tf.Tensor:
        return tf.raw_ops.BlockLSTMV2(
            seq_len_max=tf.constant(words, tf.int64),
            x=by_time,
            cs_prev=zeros,
            h_prev=zeros,
            w=kernel,
            wci=peepholes,
            wcf=peepholes,
            wco=peepholes,
            b=bias,
            cell_clip=0.0,
            use_peephole=False,
        ).h[-1]

    return differentiated(outputs, [kernel, bias])


if __name__ == "__main__":
    main()

#!/usr/bin/env bash
# Guess: tf.gather and tf.nn.embedding_lookup read the rows that they are asked for, under any
#   strategy.
# Seen: under a strategy with replicas they become a read of the whole variable and a gather of the
#   result. As soon as rows of the table were updated alone, as the first step of training does,
#   each such read copies the table: three rows of 205 MB take as long as a copy. On one device they
#   become ResourceGather, which reads three rows.
# Hurt: who trains a word table under MirroredStrategy or MultiWorkerMirroredStrategy: each lookup,
#   and each part of a loop over rows, costs a copy of the table.
# Versions: TensorFlow 2.20.0; 29 November 2026.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3.11}" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile tensorflow==2.20.0
cd "$folder"
TF_CPP_MIN_LOG_LEVEL=3 venv/bin/python - <<'PYTHON'
import statistics
import time

import tensorflow as tf

(cpu,) = tf.config.list_physical_devices("CPU")
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
ids = tf.constant([1, 2, 3])


def milliseconds(function):
    """The median of 20 calls."""
    times = []
    for _ in range(20):
        began = time.perf_counter()
        function()
        times.append(1000 * (time.perf_counter() - began))
    return statistics.median(times)


def lookup_in(strategy):
    """Operations of a lookup of three rows; its time before and after one update of such rows."""
    with strategy.scope():
        table = tf.Variable(tf.zeros([200_000, 256]))

    @tf.function(autograph=False)
    def lookup():
        return strategy.run(tf.nn.embedding_lookup, args=(table, ids))

    @tf.function(autograph=False)
    def update():
        rows = tf.IndexedSlices(tf.ones([3, 256]), ids)
        for copy in strategy.experimental_local_results(table):
            copy.scatter_sub(rows)

    found = {node.type for node in lookup.get_concrete_function().graph.get_operations()}
    lookup()
    before = milliseconds(lookup)
    update()
    lookup()
    return found & {"ResourceGather", "ReadVariableOp", "GatherV2"}, before, milliseconds(lookup)


one = lookup_in(tf.distribute.OneDeviceStrategy("CPU:0"))
two = lookup_in(tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"]))
for name, (operations, before, after) in {"one device": one, "two replicas": two}.items():
    print(f"{name}: {sorted(operations)}, {before:.2f} ms, after an update of rows {after:.2f} ms")
assert one[0] == {"ResourceGather"}
assert two[0] == {"ReadVariableOp", "GatherV2"}
assert one[2] < 5 * one[1]
assert two[2] > 20 * two[1]
PYTHON

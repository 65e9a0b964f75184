#!/usr/bin/env bash
# Guess: the replicas of a strategy draw different numbers, as different examples need.
# Seen: tf.nn.dropout and tf.random.uniform with a seed draw the same on each replica, since each
#   replica has its own copy of the operation with the same seed. Without a seed, and by layers of
#   tf_keras with or without one, they differ.
# Hurt: who writes own dropout or noise with a seed, for repeatable runs: two replicas halve the
#   number of masks.
# Versions: TensorFlow 2.20.0, tf_keras 2.20.1; 28 November 2026.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3.11}" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile \
  tensorflow==2.20.0 tf-keras==2.20.1 numpy==2.4.6
cd "$folder"
TF_CPP_MIN_LOG_LEVEL=3 TF_USE_LEGACY_KERAS=1 venv/bin/python - <<'PYTHON'
import numpy as np
import tensorflow as tf
import tf_keras

(cpu,) = tf.config.list_physical_devices("CPU")
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
tf.random.set_seed(0)
ones = tf.ones([1, 64])
with strategy.scope():
    layer = tf_keras.layers.Dropout(0.5, seed=1)
    layer.build(ones.shape)
draws = {
    "tf.nn.dropout, seed": lambda: tf.nn.dropout(ones, 0.5, seed=1),
    "tf.random.uniform, seed": lambda: tf.random.uniform([64], seed=1),
    "tf.nn.dropout": lambda: tf.nn.dropout(ones, 0.5),
    "Dropout layer, seed": lambda: layer(ones, training=True),
}
for name, draw in draws.items():
    first, second = (each.numpy() for each in strategy.run(tf.function(draw)).values)
    same = np.array_equal(first, second)
    print(name, "same on both replicas:", same)
    assert same == (", seed" in name and "layer" not in name), "changed"
PYTHON

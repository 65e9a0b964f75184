#!/usr/bin/env bash
# Guess: the gradient of a sum needs neither of its terms, so where only the gradient is asked for,
#   TensorFlow prunes what computes them.
# Seen: where the number of rows is unknown when the function is traced, the gradient of `a + b` asks
#   for the shapes of a and b at run time, since one might have been broadcast, and for a shape the
#   tensor is computed: the whole forward product runs, and the function takes twice as long. The
#   gradient of `tf.add_n` asks for nothing.
# Hurt: who computes gradients of embeddings from ids and upstream gradients that other workers sent:
#   each worker looks up and sums all vectors of the others for nothing (9 of 113 ms of a step).
# Versions: tensorflow 2.20.0; 28 November 2026.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3.11}" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile tensorflow==2.20.0
cd "$folder"
TF_CPP_MIN_LOG_LEVEL=3 venv/bin/python - <<'PYTHON'
import time

import tensorflow as tf

matrix = tf.random.normal([2000, 2000])
rows = tf.random.normal([2000, 2000])


def seconds(add):
    """Of the gradient of a product to which something is added, at best."""

    @tf.function(input_signature=[tf.TensorSpec([None, 2000])] * 2, autograph=False)
    def gradient(x, upstream):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = add(tf.matmul(x, matrix), tf.ones_like(upstream))
        return tape.gradient(y, x, output_gradients=upstream)

    found = []
    for _ in range(8):
        began = time.perf_counter()
        gradient(rows, rows).numpy()
        found.append(time.perf_counter() - began)
    return min(found)


plus = seconds(lambda a, b: a + b)
add_n = seconds(lambda a, b: tf.add_n([a, b]))
print(f"a + b: {plus:.3f} s, tf.add_n: {add_n:.3f} s, ratio {plus / add_n:.2f}")
assert plus > 1.5 * add_n
PYTHON

#!/usr/bin/env bash
# Guess: NumPy sums pairwise and TensorFlow by trees, so a mean of float32 is right to six digits.
# Seen: along the first axis of a matrix both add row after row in float32. Of 2^25 rows of ones,
#   the mean of each column is 0.5: the sum stops at 2^24. NumPy's mean of the same numbers along the
#   last axis, or of all, is 1. Up to a million rows the error is small (3e-5 of the mean).
# Hurt: who centres embeddings of tens of millions of texts in float32: pass dtype=np.float64.
# Versions: NumPy 2.4.6, TensorFlow 2.20.0 on a CPU; 28 November 2026.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3.11}" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile tensorflow==2.20.0 numpy==2.4.6
cd "$folder"
TF_CPP_MIN_LOG_LEVEL=3 venv/bin/python - <<'PYTHON'
import numpy as np
import tensorflow as tf

ones = np.ones((2**25, 2), np.float32)
found = {
    "NumPy, first axis": ones.mean(axis=0),
    "NumPy, last axis": ones.T.copy().mean(axis=1),
    "NumPy, float64": ones.mean(axis=0, dtype=np.float64),
    "TensorFlow, first axis": tf.reduce_mean(ones, axis=0).numpy(),
}
for name, mean in found.items():
    print(name, mean)
np.testing.assert_array_equal(list(found.values()), [[0.5, 0.5], [1, 1], [1, 1], [0.5, 0.5]])
PYTHON

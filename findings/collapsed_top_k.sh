#!/usr/bin/env bash
# Guess: a model that scores all candidates alike is right by chance, at top 1 of 100 once in 100.
# Seen: to tf.math.in_top_k, and so to SparseTopKCategoricalAccuracy and TopKCategoricalAccuracy of
#   tf_keras and of Keras 3, every tied candidate is in the top k: accuracy 1.0. With k = 1 the
#   metric thus contradicts SparseCategoricalAccuracy, which takes the first of equals (0.01).
#   scikit-learn's top_k_accuracy_score takes the last.
# Hurt: who watches P@1 of a dual encoder: a collapsed one looks perfect, and is kept as the best.
# Versions: TensorFlow 2.20.0, tf_keras 2.20.1, Keras 3.15.1, scikit-learn 1.9.1; 28 November 2026.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3.11}" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile \
  tensorflow==2.20.0 tf-keras==2.20.1 keras==3.15.1 scikit-learn==1.9.1 numpy==2.4.6
cd "$folder"
TF_CPP_MIN_LOG_LEVEL=3 venv/bin/python - <<'PYTHON'
import keras
import numpy as np
import tensorflow as tf
import tf_keras
from sklearn.metrics import top_k_accuracy_score

# In-batch scores: the response to input n is candidate n, and all scores are equal.
true, scores = np.arange(100), np.zeros((100, 100), np.float32)
found = {"tf.math.in_top_k": float(np.mean(tf.math.in_top_k(true, scores, 1)))}
for name, library in (("tf_keras", tf_keras), ("Keras 3", keras)):
    found[name, "top 1"] = float(library.metrics.SparseTopKCategoricalAccuracy(k=1)(true, scores))
    found[name, "argmax"] = float(library.metrics.SparseCategoricalAccuracy()(true, scores))
for position in (0, 99):
    score = top_k_accuracy_score([position] * 100, scores, k=1, labels=true)
    found["scikit-learn", f"true one at {position}"] = float(score)
for name, accuracy in found.items():
    print(name, round(accuracy, 3))
np.testing.assert_allclose(list(found.values()), [1, 1, 0.01, 1, 0.01, 0, 1], atol=1e-6)
PYTHON

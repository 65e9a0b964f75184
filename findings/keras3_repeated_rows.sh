#!/usr/bin/env bash
# Guess: an embedding trains as a matrix product with one-hot rows would, up to rows without a
#   gradient.
# Seen: in Keras 3 on TensorFlow, the gradient of an embedding names a row once for each time that
#   its word occurs in the batch, and optimizers square these parts one by one: Adagrad adds
#   1 + 1 where the gradient is 2 and its square 4. Adagrad, Adam, RMSprop and Nadam thus take
#   larger steps for frequent words. tf_keras adds the parts up first, and agrees.
# Hurt: who moves a model with a word table from tf_keras to Keras 3: same code, other results.
# Versions: Keras 3.15.1, tf_keras 2.20.1, TensorFlow 2.20.0; 28 November 2026.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3.11}" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile \
  tensorflow==2.20.0 tf-keras==2.20.1 keras==3.15.1 numpy==2.4.6
cd "$folder"
TF_CPP_MIN_LOG_LEVEL=3 venv/bin/python - <<'PYTHON'
import keras
import numpy as np
import tf_keras

IDS = np.array([[0, 0, 1], [0, 2, 2]])  # word 0 three times, word 1 once, word 2 twice


def trained(library, optimizer, *, dense):
    """The table of four words, one number each, after two steps."""
    layers = library.layers
    first = (
        layers.Dense(1, use_bias=False, kernel_initializer="ones")
        if dense
        else layers.Embedding(4, 1, embeddings_initializer="ones")
    )
    model = library.Sequential([first, layers.GlobalAveragePooling1D()])
    model.compile(getattr(library.optimizers, optimizer)(0.1), "mse")
    model.fit(np.eye(4)[IDS] if dense else IDS, np.array([[0.0], [3.0]]), epochs=2, verbose=0)
    return np.array(first.get_weights()[0])[:3, 0]


for name, library in (("tf_keras", tf_keras), ("Keras 3", keras)):
    for optimizer in ("SGD", "Adagrad", "Adam", "RMSprop"):
        rows, dense = (trained(library, optimizer, dense=each) for each in (False, True))
        differ = not np.allclose(rows, dense, atol=1e-4)
        print(name, optimizer, "table", rows.round(4), "one-hot", dense.round(4))
        assert differ == (name == "Keras 3" and optimizer != "SGD"), "changed"
PYTHON

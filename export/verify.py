"""Loads a module as a stranger would, and compares what it says.

Run as a program of its own, `python -I verify.py MODULE EXPECTED.npz`, so that nothing of this
project can be imported: what the module needs must be in the module.
"""

import sys

import numpy as np

PROBES = (
    "How old are you?",
    "",
    "I am 20 years old 🎂 ’tis true",
    "\x00 \ufffd مرحبا 你好",
    "word " * 1000,
)
"""Sentences that modules have failed on: empty, emoji, NUL, other scripts, too long."""
TOLERANCE = 1e-5


def check(module_path: str, expected_path: str) -> None:
    """Compares the reloaded module with what it gave before it was saved.

    Raises:
      ValueError: naming the first difference.
    """
    import tensorflow as tf
    import tensorflow_text  # noqa: F401  (registers the ops)

    module = tf.saved_model.load(module_path)
    signatures = module.signatures
    sentences = tf.constant(PROBES)
    alone = [module(sentences[row : row + 1]) for row in range(len(PROBES))]
    found = {
        "__call__": module(sentences),
        "__call__, one sentence at a time": tf.concat(alone, axis=0),
        "serving_default": signatures["serving_default"](inputs=sentences)["outputs"],
    }
    if "encode_response" in signatures:
        found["encode_response"] = signatures["encode_response"](inputs=sentences)["outputs"]
    if "classify_nli" in signatures:
        pairs = {"premise": sentences, "hypothesis": sentences[::-1]}
        found["classify_nli"] = signatures["classify_nli"](**pairs)["outputs"]
    with np.load(expected_path) as expected:
        for name, rows in found.items():
            wanted = expected[name if name in expected else "__call__"]
            difference = float(np.max(np.abs(rows.numpy() - wanted)))
            if not difference <= TOLERANCE:
                raise ValueError(f"{name} differs by {difference} after reloading")


if __name__ == "__main__":
    try:
        check(*sys.argv[1:])
    except Exception as error:
        sys.exit(f"{type(error).__name__}: {error}")

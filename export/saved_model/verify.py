"""Loads a module in a fresh process, compares its values with those of before, and measures it.

Runs as `python -I verify.py MODULE EXPECTED.npz`, so that nothing of this project can be imported:
the module must work without it. Prints the measurements as a line of JSON.
"""

import json
import statistics
import sys
import time

import numpy as np

PROBES = (
    "How old are you?",
    "",
    "I am 20 years old 🎂 ’tis true",
    "\x00 \ufffd مرحبا 你好",
    "word " * 1000,
)
"""Sentences that other modules have failed on: empty, emoji, NUL, other scripts, too long."""
TOLERANCE = 1e-5
MEASURED_BATCHES = (1, 32, 256)
MEASURED_TEXT = "I agree with most of what you say, but how would that work where I live?"
CALLS = 10


def check(module_path: str, expected_path: str) -> dict:
    """Compares the reloaded module with values from before it was saved.

    Args:
      module_path: a SavedModel.
      expected_path: `.npz` file of `feeds`, the JSON of each signature's arguments; `call`, the
        embeddings of `PROBES`; and `SIGNATURE/OUTPUT` for each output of each signature.

    Returns:
      Time and memory of loading and calling it.

    Raises:
      ValueError: naming the first difference.
    """
    import tensorflow as tf
    import tensorflow_text  # noqa: F401  (registers the ops)

    tf.constant(1)  # starts TensorFlow
    resting, began = _memory(), time.perf_counter()
    module = tf.saved_model.load(module_path)
    measured: dict = {"load_seconds": time.perf_counter() - began}
    measured["memory_bytes"] = _memory() - resting
    sentences = tf.constant(PROBES)
    alone = [module(sentences[row : row + 1]) for row in range(len(PROBES))]
    with np.load(expected_path) as expected:
        _compare("__call__", module(sentences), expected["call"])
        _compare("__call__, one sentence at a time", tf.concat(alone, axis=0), expected["call"])
        for name, feed in json.loads(str(expected["feeds"])).items():
            arguments = {key: tf.constant(value) for key, value in feed.items()}
            outputs = module.signatures[name](**arguments)
            for output, rows in outputs.items():
                _compare(f"{name}, {output}", rows, expected[f"{name}/{output}"])
    _compare("a batch of zero", tf.shape(module(tf.constant([], tf.string)))[:1], np.zeros(1))
    return measured | {"batches": _batches(module)}


def _compare(name: str, found, wanted: np.ndarray) -> None:
    rows = found.numpy()
    if rows.shape != wanted.shape:
        raise ValueError(f"{name} is of shape {rows.shape} after reloading, was {wanted.shape}")
    difference = float(np.max(np.abs(rows - wanted), initial=0))
    if not difference <= TOLERANCE:
        raise ValueError(f"{name} differs by {difference} after reloading")


def _memory(kind: str = "VmRSS") -> int:
    """Bytes that this process holds; `VmHWM` is the maximum since 5 was written to clear_refs."""
    with open("/proc/self/status") as file:  # noqa: PTH123
        (line,) = (line for line in file if line.startswith(f"{kind}:"))
    return 1024 * int(line.split()[1])


def _batches(module) -> dict[str, dict[str, float]]:
    """By batch size: median seconds for sentences of 17 words, and additional bytes."""
    import tensorflow as tf

    found = {}
    for size in MEASURED_BATCHES:
        batch = tf.constant([MEASURED_TEXT] * size)
        module(batch)
        with open("/proc/self/clear_refs", "w") as file:  # noqa: PTH123
            file.write("5")
        before, taken = _memory(), []
        for _ in range(CALLS):
            began = time.perf_counter()
            module(batch)
            taken.append(time.perf_counter() - began)
        grown = max(_memory("VmHWM") - before, 0)
        found[str(size)] = {"seconds": statistics.median(taken), "bytes": grown}
    return found


if __name__ == "__main__":
    try:
        print(json.dumps(check(*sys.argv[1:])))
    except Exception as error:
        sys.exit(f"{type(error).__name__}: {error}")

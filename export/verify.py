"""Loads a module as a stranger would, compares what it says, and measures it.

Run as a program of its own, `python -I verify.py MODULE EXPECTED.npz`, so that nothing of this
project can be imported: what the module needs must be in the module. Prints a JSON line of what
it measured.
"""

import json
import resource
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
"""Sentences that modules have failed on: empty, emoji, NUL, other scripts, too long."""
TOLERANCE = 1e-5
MEASURED_BATCHES = (1, 32, 256)
MEASURED_TEXT = "I agree with most of what you say, but how would that work where I live?"
CALLS = 10


def check(module_path: str, expected_path: str) -> dict:
    """Compares the reloaded module with what it gave before it was saved.

    Args:
      module_path: a SavedModel.
      expected_path: `feeds`, the JSON of each signature's arguments; `call`, what the root gives
        for `PROBES`; and `SIGNATURE/OUTPUT` for each output of each signature.

    Returns:
      What loading and calling it took.

    Raises:
      ValueError: naming the first difference.
    """
    import tensorflow as tf
    import tensorflow_text  # noqa: F401  (registers the ops)

    resting, began = _memory(), time.perf_counter()
    module = tf.saved_model.load(module_path)
    measured = {"load_seconds": time.perf_counter() - began}
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
    return measured | {"batch_seconds": _time(module)}


def _compare(name: str, found, wanted: np.ndarray) -> None:
    rows = found.numpy()
    if rows.shape != wanted.shape:
        raise ValueError(f"{name} is of shape {rows.shape} after reloading, was {wanted.shape}")
    difference = float(np.max(np.abs(rows - wanted), initial=0))
    if not difference <= TOLERANCE:
        raise ValueError(f"{name} differs by {difference} after reloading")


def _memory() -> int:
    """Bytes that this process holds at the moment."""
    with open("/proc/self/statm") as file:  # noqa: PTH123
        return int(file.read().split()[1]) * resource.getpagesize()


def _time(module) -> dict[str, float]:
    """Median seconds a batch of a sentence of 17 words, by batch size."""
    import tensorflow as tf

    seconds = {}
    for size in MEASURED_BATCHES:
        batch = tf.constant([MEASURED_TEXT] * size)
        taken = []
        for _ in range(CALLS):
            began = time.perf_counter()
            module(batch)
            taken.append(time.perf_counter() - began)
        seconds[str(size)] = statistics.median(taken)
    return seconds


if __name__ == "__main__":
    try:
        print(json.dumps(check(*sys.argv[1:])))
    except Exception as error:
        sys.exit(f"{type(error).__name__}: {error}")

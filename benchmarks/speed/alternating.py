"""Large batches without TensorFlow beside peers, where other work disturbs the machine.

    taskset -c 0 python -m benchmarks.speed.alternating --module DIR --pairs 'DIR/train-*' \\
        --peer_python PYTHON [--batch 4096] [--rounds 12]

In each round every system encodes a new batch of real comments, one after the other, so that what
else runs disturbs them alike. Prints medians over the rounds; ratios are taken within a round.
`benchmarks.speed.encoding` says what the systems are.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from itertools import islice
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

from tabulate import tabulate

from benchmarks import runs
from benchmarks.speed.encoding import PEER

SYSTEMS = ("plain", "static_embedding", "model2vec")


def main() -> None:
    """Measures, prints."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--module", required=True, metavar="DIR")
    parser.add_argument("--pairs", required=True, metavar="GLOB", help="their inputs are encoded")
    parser.add_argument("--peer_python", required=True, metavar="PYTHON")
    parser.add_argument("--batch", type=int, default=4096, metavar="N")
    parser.add_argument("--rounds", type=int, default=12, metavar="N")
    given = parser.parse_args()
    needed = given.batch * (given.rounds + 1)
    texts = [pair[0] for pair in islice(runs.pairs(given.pairs), needed)]
    if len(texts) < needed:
        parser.error(f"--pairs {given.pairs}: {len(texts)} inputs; {needed} are needed")
    cores = len(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory() as folder:
        sentences = Path(folder) / "sentences.json"
        sentences.write_text(json.dumps(texts))
        running = {name: started(name, given, sentences, cores) for name in SYSTEMS}
        rounds = [
            {name: batch(process) for name, process in running.items()} for _ in range(given.rounds)
        ]
    for process in running.values():
        process.kill()
    words = len(" ".join(texts).split()) / len(texts)
    load = os.getloadavg()[0]
    print(
        f"{cores} cores, load {load:.1f}; batches of {given.batch:,}, {words:.0f} words a comment"
    )
    rows = []
    for name in SYSTEMS:
        wall, cpu = zip(*(one[name] for one in rounds), strict=True)
        lower, median, upper = statistics.quantiles(
            (one[SYSTEMS[1]][0] / one[name][0] for one in rounds), n=4
        )
        speeds = given.batch / statistics.median(wall), given.batch / min(wall)
        rows.append(
            (name, *speeds, 1e6 * statistics.median(cpu) / given.batch, median, lower, upper)
        )
    header = ("", "sentences/s", "at best", "CPU us a sentence")
    header += (f"of {SYSTEMS[1]}", "lower quartile", "upper quartile")
    print(tabulate(rows, header, floatfmt=("", ",.0f", ",.0f", ".1f", ".2f", ".2f", ".2f")))


def started(name: str, given: argparse.Namespace, sentences: Path, cores: int) -> subprocess.Popen:
    """A process that has loaded a system."""
    command = [sys.executable if name == "plain" else given.peer_python, str(PEER), "--alternate"]
    command += ["--system", name, "--path", given.module, "--sentences", str(sentences)]
    process = subprocess.Popen(
        [*command, "--threads", str(cores), "--batches", str(given.batch)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    if process.stdout.readline() != "ready\n":
        sys.exit(f"{name} does not start")
    return process


def batch(process: subprocess.Popen) -> list[float]:
    """Seconds of the next batch: passed, and of CPU time."""
    process.stdin.write("\n")
    process.stdin.flush()
    return [float(word) for word in process.stdout.readline().split()]


if __name__ == "__main__":
    main()

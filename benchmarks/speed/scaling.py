"""Two workers on this machine beside one: what `multi_worker_mirrored` gains and costs.

    python -m benchmarks.speed.scaling --pairs 'DIR/train-*'

Each worker is a process of `python -m model` with a `TF_CONFIG` and its own core, as if each were
a machine. The batch of each worker stays the same, so two workers read twice as many pairs a
step. The third row is one process with both cores and both batches. Pairs per second leave out
start-up.
"""

import argparse
import json
import os
import socket
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

from tabulate import tabulate

from benchmarks import runs

CORES = ("0", "1")


def main() -> None:
    """Trains in three ways, prints."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--pairs", required=True, metavar="GLOB", help="to train on")
    parser.add_argument("--preset", default="laptop_dan", metavar="NAME")
    parser.add_argument("--batch", type=int, default=256, metavar="N", help="of each worker")
    parser.add_argument("--steps", type=int, default=200, metavar="N", help="2 or more")
    arguments = parser.parse_args()
    with TemporaryDirectory() as folder:
        work = Path(folder)
        rows = [
            ("one worker, one core", one(arguments, work / "one", 1)),
            ("two workers, a core each", two(arguments, work / "two")),
            ("one process, two cores", one(arguments, work / "both", 2)),
        ]
    table = [(name, speed, speed / rows[0][1]) for name, speed in rows]
    header = (arguments.preset, "pairs/s", "of one worker")
    print(tabulate(table, header, floatfmt=("", ",.0f", ".2f")))


def one(arguments: argparse.Namespace, folder: Path, cores: int) -> float:
    """Pairs per second of one process with the batch of as many workers as it has cores."""
    command = runs.training(folder, arguments.preset, override_of(arguments, workers=cores))
    runs.wait(runs.start(folder, command, cores=",".join(CORES[:cores])))
    return runs.pairs_per_second(folder)


def two(arguments: argparse.Namespace, folder: Path) -> float:
    """Pairs per second of two workers."""
    override = override_of(arguments, workers=len(CORES))
    override["runtime.distribution_strategy"] = "multi_worker_mirrored"
    command = runs.training(folder, arguments.preset, override)
    cluster = {"worker": [f"localhost:{port}" for port in free_ports(len(CORES))]}
    started = []
    for index, core in enumerate(CORES):
        task = {"type": "worker", "index": index}
        config = {"TF_CONFIG": json.dumps({"cluster": cluster, "task": task})}
        started.append(runs.start(folder, command, cores=core, environment=config))
    runs.wait(*started)
    return runs.pairs_per_second(folder)


def override_of(arguments: argparse.Namespace, *, workers: int) -> dict[str, object]:
    """What differs from the preset."""
    return runs.timed(arguments.pairs, batch=arguments.batch * workers, steps=arguments.steps)


def free_ports(number: int) -> list[int]:
    """Free ports of this machine."""
    with ExitStack() as stack:
        made = [socket.create_server(("localhost", 0)) for _ in range(number)]
        return [stack.enter_context(each).getsockname()[1] for each in made]


if __name__ == "__main__":
    main()

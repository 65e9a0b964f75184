"""Two workers on this machine beside one: what `multi_worker_mirrored` gains and costs.

    python -m benchmarks.speed.scaling --pairs 'DIR/train-*'

Each worker is a process of `python -m model` with a `TF_CONFIG` and its own core, as if each were
a machine. The batch of each worker stays the same, so two workers read twice as many pairs a
step. The third row is one process with both cores and both batches. Pairs per second leave out
start-up. `--batch` is that of a worker; `--steps` are 2 or more.
"""

import json
import socket
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

from tabulate import tabulate

from benchmarks import runs

CORES = ("0", "1")
ROWS = {
    "one worker, one core": ["0"],
    "two workers, a core each": CORES,
    "one process, two cores": ["0,1"],
}


def main() -> None:
    """Trains in three ways, prints."""
    given = runs.given(__doc__, "pairs", preset="laptop_dan_ngrams", batch=512, steps=200)
    speeds = {}
    with TemporaryDirectory() as work:
        words = runs.vocabulary(Path(work), given.pairs)
        for number, (name, workers) in enumerate(ROWS.items()):
            batch = given.batch * len(",".join(workers).split(","))
            override = runs.timed(given.pairs, words=words, batch=batch, steps=given.steps)
            speeds[name] = speed(Path(work, str(number)), given.preset, override, workers)
    table = [(name, each, each / next(iter(speeds.values()))) for name, each in speeds.items()]
    header = (given.preset, "pairs/s", "of one worker")
    print(tabulate(table, header, floatfmt=("", ",.0f", ".2f")))


def speed(folder: Path, preset: str, override: dict[str, object], workers: Sequence[str]) -> float:
    """Pairs per second of the workers, each of which has its cores."""
    with ExitStack() as stack:  # ports that are free now
        servers = [stack.enter_context(socket.create_server(("localhost", 0))) for _ in workers]
        addresses = [f"localhost:{server.getsockname()[1]}" for server in servers]
    if is_cluster := len(workers) > 1:
        override["runtime.distribution_strategy"] = "multi_worker_mirrored"
    started = []
    for index, cores in enumerate(workers):
        role = {"cluster": {"worker": addresses}, "task": {"type": "worker", "index": index}}
        environment = {"TF_CONFIG": json.dumps(role)} if is_cluster else {}
        command = runs.training(folder, preset, override)
        started.append(runs.start(folder, command, cores=cores, environment=environment))
    runs.wait(*started)
    return runs.pairs_per_second(folder)


if __name__ == "__main__":
    main()

"""Two workers on this machine beside one: what a strategy of `tf.distribute` gains and costs.

    python -m benchmarks.speed.scaling --pairs 'DIR/train-*'

Each worker is a process of `python -m model` with a `TF_CONFIG` and its own core, as if each were
a machine. The batch of each worker stays the same, so two workers read twice as many pairs a
step. The third row is one process with both cores and both batches. Pairs per second leave out
start-up. `--batch` is that of a worker; `--steps` are 2 or more. With `--strategy
parameter_server` the rows are one worker alone, and with one server one and two workers; server
and chief may use both cores.
"""

import argparse
import json
import socket
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

from tabulate import tabulate

from benchmarks import runs

MIRRORED, SERVERS = "multi_worker_mirrored", "parameter_server"
CHIEF, SERVER = ("chief", "0,1"), ("ps", "0,1")
FIRST, SECOND = ("worker", "0"), ("worker", "1")
ROWS = {
    MIRRORED: {
        "one worker, one core": [FIRST],
        "two workers, a core each": [FIRST, SECOND],
        "one process, two cores": [("worker", "0,1")],
    },
    SERVERS: {
        "one worker, one core": [FIRST],
        "a server, one worker": [CHIEF, SERVER, FIRST],
        "a server, two workers": [CHIEF, SERVER, FIRST, SECOND],
    },
}
"""Of each strategy, processes and the cores of each."""


def main() -> None:
    """Trains in three ways, prints."""
    given = runs.given(
        __doc__, "pairs", preset="laptop_dan_ngrams", batch=512, steps=200, strategy=MIRRORED
    )
    if given.strategy not in ROWS:
        sys.exit(f"error: --strategy: {given.strategy!r}; accepted: {', '.join(ROWS)}")
    speeds = {}
    with TemporaryDirectory() as work:
        words = runs.vocabulary(Path(work), given.pairs)
        for number, (name, processes) in enumerate(ROWS[given.strategy].items()):
            override = overrides(given, words, processes)
            speeds[name] = speed(Path(work, str(number)), given.preset, override, processes)
    table = [(name, each, each / next(iter(speeds.values()))) for name, each in speeds.items()]
    header = (given.preset, "pairs/s", "of one worker")
    print(tabulate(table, header, floatfmt=("", ",.0f", ".2f")))


def overrides(
    given: argparse.Namespace, words: str, processes: Sequence[tuple[str, str]]
) -> dict[str, object]:
    """Parameters of the training of a row; with parameter servers no row averages its weights."""
    cores = {core for _, its in processes for core in its.split(",")}
    # With servers, a step is one worker's batch.
    batch = given.batch * (len(cores) if given.strategy == MIRRORED else 1)
    override = runs.timed(given.pairs, words=words, batch=batch, steps=given.steps)
    if given.strategy == SERVERS:
        override["trainer.average_decay"] = 0
    if len(processes) > 1:
        override["runtime.distribution_strategy"] = given.strategy
    return override


def speed(
    folder: Path, preset: str, override: dict[str, object], processes: Sequence[tuple[str, str]]
) -> float:
    """Pairs per second of processes, each with its job in the cluster and its cores."""
    with ExitStack() as stack:  # ports that are free now
        servers = [stack.enter_context(socket.create_server(("localhost", 0))) for _ in processes]
        cluster: dict[str, list[str]] = {}
        for (job, _), server in zip(processes, servers, strict=True):
            cluster.setdefault(job, []).append(f"localhost:{server.getsockname()[1]}")
    started, numbers = [], dict.fromkeys(cluster, 0)
    for job, cores in processes:
        role = {"cluster": cluster, "task": {"type": job, "index": numbers[job]}}
        numbers[job] += 1
        environment = {"TF_CONFIG": json.dumps(role)} if len(processes) > 1 else {}
        command = runs.training(folder, preset, override)
        started.append(runs.start(folder, command, cores=cores, environment=environment))
    # The workers and servers of a chief do not end by themselves.
    runs.wait(*started, until=1 if "chief" in cluster else None)
    return runs.pairs_per_second(folder)


if __name__ == "__main__":
    main()

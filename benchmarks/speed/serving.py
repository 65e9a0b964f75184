"""`examples/http_server.py` beside the same server with TensorFlow: requests, memory.

    python -m benchmarks.speed.serving --module DIR --pairs 'DIR/test-*'

Both answer the same real comments, in turn, `--rounds` times: a server has one core, and its
clients, threads that each keep a connection, have another, `--seconds` for each size of request.
Prints medians over the rounds. Other work on the machine disturbs the CPU time of a request less
than the requests a second.
"""

import argparse
import json
import os
import runpy
import statistics
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from http.client import HTTPConnection
from itertools import count
from types import SimpleNamespace

from tabulate import tabulate

from benchmarks import runs
from benchmarks.peers.encoding import peak_mb

SERVER = runs.REPOSITORY / "examples" / "http_server.py"
KINDS = ("plain", "tensorflow")
CONNECTIONS = 8
TEXTS = (1, 32)
"""In a request."""


def main() -> None:
    """Measures, prints; a child process serves."""
    options = {"pairs": None, "seconds": 5.0, "rounds": 3, "serve": None}
    given = runs.given(__doc__, "module", **options)
    if given.serve:
        serve(given.serve, given.module)
        return
    texts = runs.inputs(given.pairs, 4096, least=max(TEXTS) + 1)
    os.sched_setaffinity(0, {1})
    ways = {kind: partial(measured, kind, given, texts) for kind in KINDS}
    found = runs.in_turn(given.rounds, ways)
    names = found[KINDS[0]][0]
    rows = [
        (kind, *(statistics.median(one[key] for one in rounds) for key in names))
        for kind, rounds in found.items()
    ]
    print(tabulate(rows, ("", *names), floatfmt=".2f"))


def serve(kind: str, module: str) -> None:
    """The example, or the example with the SavedModel."""
    os.sched_setaffinity(0, {0})
    example = runpy.run_path(str(SERVER))
    if kind == "tensorflow":
        example["conversational_embeddings"].load = saved_model
    server = example["Server"](module, 0)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_address[1], flush=True)
    for _ in sys.stdin:
        print(json.dumps([time.process_time(), peak_mb()]), flush=True)


def saved_model(path: str) -> SimpleNamespace:
    """A SavedModel with the method that the server calls."""
    import tensorflow as tf
    import tensorflow_text  # noqa: F401

    loaded = tf.saved_model.load(path).signatures["serving_default"]
    return SimpleNamespace(
        encode=lambda texts: loaded(inputs=tf.constant(texts, tf.string))["outputs"].numpy()
    )


def measured(kind: str, given: argparse.Namespace, texts: list[str]) -> dict[str, float]:
    """What a table's row shows of one server."""
    began = time.perf_counter()
    command = [sys.executable, "-m", "benchmarks.speed.serving", "--module", given.module]
    process = subprocess.Popen(
        [*command, "--serve", kind],
        cwd=runs.REPOSITORY,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,  # a line for each request
        text=True,
    )
    assert process.stdin and process.stdout

    def used() -> list[float]:
        process.stdin.write("\n")
        process.stdin.flush()
        return json.loads(process.stdout.readline())

    try:
        port = int(process.stdout.readline())
        ask(HTTPConnection("localhost", port), texts[:1])
        found = {"first answer s": time.perf_counter() - began}
        for size in TEXTS:
            before, _ = used()
            answers = answered(port, texts, size, given.seconds)
            cpu, memory = used()
            found[f"requests/s of {size}"] = answers / given.seconds
            found[f"CPU ms of {size}"] = 1e3 * (cpu - before) / answers
        return found | {"peak MB": memory}
    finally:
        process.kill()


def answered(port: int, texts: list[str], size: int, seconds: float) -> int:
    """How many requests are answered in that time."""
    numbers, end = count(), time.perf_counter() + seconds

    def work(_: int) -> int:
        answers, connection = 0, HTTPConnection("localhost", port)
        while time.perf_counter() < end:
            at = next(numbers) * size % (len(texts) - size)
            ask(connection, texts[at : at + size])
            answers += 1
        return answers

    with ThreadPoolExecutor(CONNECTIONS) as pool:
        return sum(pool.map(work, range(CONNECTIONS)))


def ask(connection: HTTPConnection, texts: list[str]) -> None:
    """A request and its answer, which is not parsed: that would be the client's time."""
    headers = {"Content-Type": "application/json"}
    connection.request("POST", "/", json.dumps(texts).encode(), headers)
    with connection.getresponse() as answer:
        body = answer.read()
    if answer.status != 200:
        raise RuntimeError(f"{answer.status}: {body[:200]!r}")


if __name__ == "__main__":
    main()

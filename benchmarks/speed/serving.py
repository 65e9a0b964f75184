"""`examples/http_server.py` beside the same server with TensorFlow: requests/s and memory.

    python -m benchmarks.speed.serving --module DIR --pairs 'DIR/test-*'

Both answer the same real comments, in turn, `--rounds` times: a server has one core, and its
clients, threads that each keep a connection, have another. Prints medians over the rounds.
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
from http.client import HTTPConnection
from itertools import count, islice
from types import SimpleNamespace

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

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
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--module", required=True, metavar="DIR")
    parser.add_argument("--pairs", metavar="GLOB", help="their inputs are sent")
    parser.add_argument("--seconds", type=float, default=5.0, help="for each size of request")
    parser.add_argument("--rounds", type=int, default=3, metavar="N")
    parser.add_argument("--serve", choices=KINDS, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.serve:
        serve(given.serve, given.module)
        return
    texts = [pair[0] for pair in islice(runs.pairs(given.pairs), 4096)]
    os.sched_setaffinity(0, {1})
    rounds = [{kind: measured(kind, given, texts) for kind in KINDS} for _ in range(given.rounds)]
    rows = [
        (kind, *(statistics.median(one[kind][key] for one in rounds) for key in rounds[0][kind]))
        for kind in KINDS
    ]
    header = ("", *(f"requests/s of {size}" for size in TEXTS), "first answer s", "peak MB")
    print(tabulate(rows, header, floatfmt=("", ",.0f", ",.0f", ".2f", ".0f")))


def serve(kind: str, module: str) -> None:
    """The example, or the example with the SavedModel."""
    os.sched_setaffinity(0, {0})
    example = runpy.run_path(str(SERVER))
    if kind == "tensorflow":
        example["conversational_embeddings"].load = saved_model
    server = example["Server"](module, 0)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_address[1], flush=True)
    sys.stdin.readline()
    print(peak_mb(), flush=True)


def saved_model(path: str) -> SimpleNamespace:
    """A SavedModel with the method that the server calls."""
    import tensorflow as tf
    import tensorflow_text  # noqa: F401

    loaded = tf.saved_model.load(path).signatures["serving_default"]
    return SimpleNamespace(
        encode=lambda texts: loaded(inputs=tf.constant(texts, tf.string))["outputs"].numpy()
    )


def measured(kind: str, given: argparse.Namespace, texts: list[str]) -> dict[str, float]:
    """Requests per second by size, seconds from the start to the first answer, memory."""
    began = time.perf_counter()
    command = [sys.executable, "-m", "benchmarks.speed.serving", "--module", given.module]
    process = subprocess.Popen(
        [*command, "--serve", kind],
        cwd=runs.REPOSITORY,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin and process.stdout
    try:
        port = int(process.stdout.readline())
        ask(HTTPConnection("localhost", port), texts[:1])
        first = time.perf_counter() - began
        found = {str(size): requests_per_second(port, texts, size, given.seconds) for size in TEXTS}
        process.stdin.write("\n")
        process.stdin.flush()
        return found | {"first": first, "memory": float(process.stdout.readline())}
    finally:
        process.kill()


def requests_per_second(port: int, texts: list[str], size: int, seconds: float) -> float:
    """What all connections get answered."""
    answered, numbers = [], count()
    end = time.perf_counter() + seconds

    def work() -> None:
        connection = HTTPConnection("localhost", port)
        while time.perf_counter() < end:
            at = next(numbers) * size % (len(texts) - size)
            ask(connection, texts[at : at + size])
            answered.append(size)

    threads = [threading.Thread(target=work) for _ in range(CONNECTIONS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return len(answered) / seconds


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

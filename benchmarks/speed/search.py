"""Search in many texts: the index of `python -m export index` beside brute force and graphs.

    python -m benchmarks.speed.search --module module/ --texts sentences.txt

A text per line, of which the last ones are the queries. Brute force multiplies a float32 matrix in
memory by one query or by 256 at a time. Times are CPU seconds of one thread, so that other work on
the machine changes little. `--compared N` builds graphs (HNSW) of N texts where hnswlib and usearch
are installed; neither is a dependency.
"""

import argparse
import importlib
import itertools
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[threads] = "1"

import numpy as np  # noqa: E402
import psutil  # noqa: E402
from tabulate import tabulate  # noqa: E402

from benchmarks.options import at_least  # noqa: E402

TOP = 10
TOGETHER = 256
"""Queries of brute force at a time."""
ONE_BY_ONE, BRUTE_ONE_BY_ONE = 200, 20
"""Queries that are asked one at a time: brute force takes long."""
M, BUILD, SEARCH = 16, 100, (64, 128, 256)
"""Of HNSW: links a node, and candidates while it is built and searched."""


class Row(NamedTuple):
    """What one way to search costs."""

    name: str
    build_seconds: float | None
    megabytes: float
    recall: float
    together: float
    one_by_one: float


Find = Callable[[np.ndarray], np.ndarray]
"""Queries, float32 [n, dim], to rows, int64 [n, TOP]."""


def main() -> None:
    """Prints the tables."""
    given = _parser().parse_args()
    from export.retrieval.responses import build_index

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        queries = _split(given.texts, folder / "texts.txt", given.count, given.queries)
        began = time.process_time()
        index = build_index(given.module, folder / "texts.txt", mode="similar")
        seconds = time.process_time() - began
        asked = index.module.encode_inputs(queries)
        print(
            f"{len(index.texts):,} texts, {index.matrix.shape[1]} numbers each, {len(asked):,} "
            f"queries; encoded and indexed in {seconds:.0f} CPU seconds\n"
        )
        print(_table(_measured(index, asked)), flush=True)
        if given.compared:
            print(f"\nof {given.compared:,} texts")
            print(_table(_compared(index.matrix[: given.compared], asked)))


def _split(texts: Path, to: Path, count: int, queries: int) -> list[str]:
    """Writes `count` texts to a file, and returns the ones behind them."""
    with texts.open(encoding="utf-8") as file:
        lines = [line.strip() for line in itertools.islice(file, count + queries)]
    if len(lines) < count + queries:
        raise SystemExit(f"{texts}: {len(lines):,} texts; {count + queries:,} are needed")
    to.write_text("\n".join(lines[:count]) + "\n", encoding="utf-8")
    return lines[count:]


def _measured(index, asked: np.ndarray) -> Iterator[Row]:
    """Brute force, then the index."""
    from export.retrieval import codes, search

    matrix = np.asarray(index.matrix, np.float32)
    truth, brute = _brute(matrix, asked)
    yield brute
    dim = index.matrix.shape[1]
    del matrix
    if index.codes is None:
        return
    began = time.process_time()
    learned = codes.learn(index.matrix)
    seconds = time.process_time() - began

    def find(inputs: np.ndarray) -> np.ndarray:
        return search.approximate_rows(learned, index.matrix, inputs, top=TOP)[1]

    # The codes are in memory; of the matrix on disk, only what is scored is read.
    size = learned.ntotal * dim / codes.DIMS / 2 / 2**20
    yield _row("this index", find, asked, truth, build_seconds=seconds, megabytes=size)


def _brute(matrix: np.ndarray, asked: np.ndarray) -> tuple[np.ndarray, Row]:
    """The right rows, and what it costs to find them."""

    def find(inputs: np.ndarray) -> np.ndarray:
        parts = (inputs[i : i + TOGETHER] for i in range(0, len(inputs), TOGETHER))
        return np.concatenate([_largest(part @ matrix.T) for part in parts])

    truth = find(asked)
    size = matrix.nbytes / 2**20
    return truth, _row(
        "brute force", find, asked, truth, megabytes=size, one_by_one=BRUTE_ONE_BY_ONE
    )


def _largest(scores: np.ndarray) -> np.ndarray:
    return np.argpartition(-scores, TOP, axis=1)[:, :TOP]


def _row(
    name: str,
    find: Find,
    asked: np.ndarray,
    truth: np.ndarray,
    *,
    megabytes: float,
    build_seconds: float | None = None,
    one_by_one: int = ONE_BY_ONE,
) -> Row:
    began = time.process_time()
    found = find(asked)
    together = len(asked) / (time.process_time() - began)
    began = time.process_time()
    for row in range(one_by_one):
        find(asked[row : row + 1])
    single = one_by_one / (time.process_time() - began)
    hits = [len(set(a) & set(b)) / TOP for a, b in zip(found, truth, strict=True)]
    return Row(name, build_seconds, megabytes, float(np.mean(hits)), together, single)


def _compared(matrix: np.ndarray, asked: np.ndarray) -> Iterator[Row]:
    """Brute force, codes and graphs of fewer texts."""
    from export.retrieval import codes, search

    vectors = np.asarray(matrix, np.float32)
    truth, brute = _brute(vectors, asked)
    yield brute
    began = time.process_time()
    learned = codes.learn(matrix)
    seconds = time.process_time() - began

    def find(inputs: np.ndarray) -> np.ndarray:
        return search.approximate_rows(learned, matrix, inputs, top=TOP)[1]

    size = matrix.size / codes.DIMS / 2 / 2**20
    yield _row("codes of faiss", find, asked, truth, build_seconds=seconds, megabytes=size)
    for library in (_hnswlib, _usearch):
        yield from library(vectors, asked, truth)


def _hnswlib(vectors: np.ndarray, asked: np.ndarray, truth: np.ndarray) -> Iterator[Row]:
    try:
        hnswlib = importlib.import_module("hnswlib")
    except ImportError:
        return
    began = time.process_time()
    graph = hnswlib.Index("ip", vectors.shape[1])
    graph.init_index(len(vectors), M=M, ef_construction=BUILD)
    graph.set_num_threads(1)
    graph.add_items(vectors, np.arange(len(vectors)))
    seconds = time.process_time() - began
    size = (vectors.nbytes + len(vectors) * M * 2 * 4) / 2**20
    for wide in SEARCH:
        graph.set_ef(wide)
        yield _row(
            f"hnswlib, ef {wide}",
            lambda inputs: graph.knn_query(inputs, k=TOP)[0],
            asked,
            truth,
            build_seconds=seconds,
            megabytes=size,
        )


def _usearch(vectors: np.ndarray, asked: np.ndarray, truth: np.ndarray) -> Iterator[Row]:
    try:
        usearch = importlib.import_module("usearch.index")
    except ImportError:
        return
    for dtype in ("f16", "i8"):
        began = time.process_time()
        graph = usearch.Index(
            ndim=vectors.shape[1],
            metric="ip",
            dtype=dtype,
            connectivity=M,
            expansion_add=BUILD,
        )
        graph.add(np.arange(len(vectors)), vectors, threads=1)
        seconds = time.process_time() - began

        def find(inputs: np.ndarray, graph=graph) -> np.ndarray:
            return np.atleast_2d(graph.search(inputs, TOP, threads=1).keys)

        for wide in SEARCH:
            graph.expansion_search = wide
            yield _row(
                f"usearch {dtype}, ef {wide}",
                find,
                asked,
                truth,
                build_seconds=seconds,
                megabytes=graph.memory_usage / 2**20,
            )


def _table(rows: Iterator[Row]) -> str:
    found = list(rows)
    brute = found[0]
    body = [
        (
            row.name,
            "-" if row.build_seconds is None else f"{row.build_seconds:.0f}",
            f"{row.megabytes:,.0f}",
            f"{row.recall:.3f}",
            f"{row.together:,.0f}",
            f"{row.together / brute.together:.1f}",
            f"{1000 / row.one_by_one:.2f}",
            f"{row.one_by_one / brute.one_by_one:.1f}",
        )
        for row in found
    ]
    headers = ["", "build, s", "MiB", f"recall@{TOP}", "queries/s", "times brute force"]
    headers += ["one query, ms", "times brute force"]
    resident = psutil.Process().memory_info().rss / 2**20
    aligned = ["left"] + ["right"] * (len(headers) - 1)
    table = tabulate(body, headers=headers, disable_numparse=True, colalign=aligned)
    return f"{table}\nresident memory at the end: {resident:,.0f} MiB"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--module", type=Path, required=True, metavar="DIR")
    parser.add_argument("--texts", type=Path, required=True, metavar="FILE", help="a text per line")
    parser.add_argument("--count", type=at_least(1000), default=1_000_000, metavar="N")
    parser.add_argument("--queries", type=at_least(TOGETHER), default=512, metavar="N")
    parser.add_argument("--compared", type=int, default=0, metavar="N", help="texts of graphs")
    return parser


if __name__ == "__main__":
    main()
